package config

import "google.golang.org/protobuf/types/known/structpb"

// Secrets gives every text in s that belongs to a sensitive attribute, whether or not s decodes.
func (t *Type) Secrets(s *structpb.Struct) []string { return secrets(t.attributes, s, nil) }

func secrets(attributes []attribute, s *structpb.Struct, found []string) []string {
	for i := range attributes {
		a := &attributes[i]
		value := s.GetFields()[a.spec.GetName()]
		if a.secret {
			found = texts(value, found)
		} else {
			found = secrets(a.form.object, value.GetStructValue(), found)
		}
	}
	return found
}

func texts(value *structpb.Value, found []string) []string {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		found = append(found, kind.StringValue)
	case *structpb.Value_ListValue:
		for _, element := range kind.ListValue.GetValues() {
			found = texts(element, found)
		}
	case *structpb.Value_StructValue:
		for _, member := range kind.StructValue.GetFields() {
			found = texts(member, found)
		}
	}
	return found
}
