package subject

import (
	"maps"
	"strconv"
	"strings"
)

// Vars are what stands for ${name} in the table of peers.
type Vars map[string]string

// With adds variables to a copy, as names and values by turns.
func (v Vars) With(pairs ...string) Vars {
	out := maps.Clone(v)
	if out == nil {
		out = Vars{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// Repetition puts the number of a repetition into the values.
func (v Vars) Repetition(i int) Vars {
	numbers := strings.NewReplacer("${i}", strconv.Itoa(i), "${next}", strconv.Itoa(i+1))
	out := make(Vars, len(v))
	for name, value := range v {
		if len(value) < 256 { // contents of files are taken as they are
			value = numbers.Replace(value)
		}
		out[name] = value
	}
	return out
}

// Put fills in a text. A variable that there is none of stays as it is.
func (v Vars) Put(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	if name, ok := strings.CutPrefix(text, "${"); ok && strings.HasSuffix(name, "}") && strings.Count(text, "${") == 1 {
		if value, ok := v[strings.TrimSuffix(name, "}")]; ok {
			return value
		}
	}
	for name, value := range v {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	return text
}

// PutAll fills in each text of a list.
func (v Vars) PutAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = v.Put(t)
	}
	return out
}

// PutIn fills in every text of a JSON value. One that is ${name:int} alone becomes a number.
func (v Vars) PutIn(value any) any {
	switch x := value.(type) {
	case string:
		if name, ok := strings.CutSuffix(x, ":int}"); ok {
			if n, err := strconv.Atoi(v.Put(name + "}")); err == nil {
				return n
			}
		}
		return v.Put(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = v.PutIn(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = v.PutIn(x[k])
		}
		return out
	}
	return value
}
