package schema

import (
	"strconv"

	"github.com/agentco/agent/proto/codec"
)

// AppendEncoded appends a payload as AppendJSON does, from its encoding by codec.Marshal, where names are in order. It is not
// ok, and appends nothing, when that is no such encoding.
func AppendEncoded(out []byte, encoded string) (_ []byte, ok bool) {
	from := len(out)
	if out, ok = appendMembers(out, encoded); !ok {
		return out[:from], false
	}
	return out, true
}

func appendMembers(out []byte, object string) ([]byte, bool) {
	out = append(out, '{')
	for object != "" {
		name, value, rest, ok := codec.NextMember(object)
		if !ok {
			return out, false
		}
		out = append(AppendText(out, name), ':')
		if out, ok = appendEncoded(out, value); !ok {
			return out, false
		}
		if object = rest; object != "" {
			out = append(out, ',')
		}
	}
	return append(out, '}'), true
}

func appendEncoded(out []byte, v codec.Encoded) ([]byte, bool) {
	if text, ok := v.Text(); ok {
		return AppendText(out, text), true
	}
	if number, ok := v.Number(); ok {
		return appendNumber(out, number), true
	}
	if members, ok := v.Object(); ok {
		return appendMembers(out, members)
	}
	if elements, ok := v.List(); ok {
		return appendElements(out, elements)
	}
	if value, ok := v.Bool(); ok {
		return strconv.AppendBool(out, value), true
	}
	return append(out, "null"...), v.Null()
}

func appendElements(out []byte, list string) ([]byte, bool) {
	out = append(out, '[')
	for list != "" {
		value, rest, ok := codec.NextElement(list)
		if !ok {
			return out, false
		}
		if out, ok = appendEncoded(out, value); !ok {
			return out, false
		}
		if list = rest; list != "" {
			out = append(out, ',')
		}
	}
	return append(out, ']'), true
}
