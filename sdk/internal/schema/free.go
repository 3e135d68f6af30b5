package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// deepestValue bounds the nesting of what no schema describes. Receivers refuse a message beyond 10000 levels, and a
// level of JSON is three of those.
const deepestValue = 1000

var errTooDeep = fmt.Errorf("it is nested more than %d levels deep", deepestValue)

// Free makes a message of whatever encoding/json makes an object of. A number that float64 would round is an error.
func Free(v any) (*structpb.Struct, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	var object map[string]any
	if err := numbers.Decode(&object); err != nil {
		return nil, fmt.Errorf("%T makes no JSON object: %w", v, err)
	}
	if object == nil {
		return nil, fmt.Errorf("%T makes null and no JSON object", v)
	}
	return freeStruct(object, 1)
}

func freeStruct(object map[string]any, level int) (*structpb.Struct, error) {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(object))}
	for name, member := range object {
		value, err := freeValue(member, level)
		if err != nil {
			return nil, within(err, "."+name)
		}
		s.Fields[name] = value
	}
	return s, nil
}

func freeValue(v any, level int) (*structpb.Value, error) {
	if level > deepestValue {
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case json.Number:
		return freeNumber(v)
	case map[string]any:
		s, err := freeStruct(v, level+1)
		return structpb.NewStructValue(s), err
	case []any:
		list := &structpb.ListValue{Values: make([]*structpb.Value, len(v))}
		for i, element := range v {
			value, err := freeValue(element, level+1)
			if err != nil {
				return nil, within(err, fmt.Sprintf("[%d]", i))
			}
			list.Values[i] = value
		}
		return structpb.NewListValue(list), nil
	default:
		return structpb.NewValue(v)
	}
}

// within says where in an object an error is, save of one whose place would be as long as it is deep.
func within(err error, place string) error {
	if errors.Is(err, errTooDeep) {
		return err
	}
	return fmt.Errorf("%s: %w", strings.TrimPrefix(place, "."), err)
}

// freeNumber takes whole numbers only when float64 holds them as they are.
func freeNumber(n json.Number) (*structpb.Value, error) {
	f, err := n.Float64()
	if err != nil {
		return nil, err
	}
	if math.Abs(f) >= 1<<53 && !strings.ContainsAny(n.String(), ".eE") {
		exact, _ := new(big.Int).SetString(n.String(), 10)
		if rounded, _ := big.NewFloat(f).Int(nil); exact == nil || rounded.Cmp(exact) != 0 {
			return nil, fmt.Errorf("%s is beyond 2^53, where the wire would round it; use a string", n)
		}
	}
	return structpb.NewNumberValue(f), nil
}

// shallow reports what is nested too deep to be received.
func shallow(s *structpb.Struct, level int) error {
	for _, member := range s.GetFields() {
		if err := shallowValue(member, level); err != nil {
			return err
		}
	}
	return nil
}

func shallowValue(v *structpb.Value, level int) error {
	if level > deepestValue {
		return errTooDeep
	}
	for _, element := range v.GetListValue().GetValues() {
		if err := shallowValue(element, level+1); err != nil {
			return err
		}
	}
	return shallow(v.GetStructValue(), level+1)
}
