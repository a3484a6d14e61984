// Filter around a model. Hides e-mail addresses and card numbers in requests and answers.
package main

import (
	"context"
	"reflect"
	"regexp"
	"strings"

	"quickstart/signalbox"
)

var email = regexp.MustCompile(`[\p{L}\p{N}_.%+-]+@[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+`)

// A whole run of digits and separators, of which cards begins with the longest match.
var digits = regexp.MustCompile(`\d+(?:[ -]\d+)*`)
var card = regexp.MustCompile(`^\d{4}[ -]?(?:\d{6}[ -]?\d{4,5}|\d{4}[ -]?\d{4}[ -]?\d{1,7})(?:\D|$)`)

// Members of a message that are not text and pass unchanged.
var opaque = map[string]bool{"id": true, "timestamp": true, "media": true}

// clean returns the value with every text in it redacted, at any depth.
func clean(value any) any {
	switch value := value.(type) {
	case string:
		return digits.ReplaceAllStringFunc(email.ReplaceAllString(value, "[email]"), hideCards)
	case []any:
		items := make([]any, len(value))
		for index, item := range value {
			items[index] = clean(item)
		}
		return items
	case map[string]any:
		members := map[string]any{}
		for name, item := range value {
			if !opaque[name] {
				item = clean(item)
			}
			members[name] = item
		}
		return members
	}
	return value
}

// hideCards hides the card numbers in a run of digits and separators. A number begins after a separator.
func hideCards(run string) string {
	var text strings.Builder
	for at := 0; at < len(run); {
		found := strings.TrimRight(card.FindString(run[at:]), " -")
		if found == "" || (at > 0 && isDigit(run[at-1])) {
			text.WriteByte(run[at])
			at++
			continue
		}
		at += len(found)
		if isCard(found) {
			found = "[card]"
		}
		text.WriteString(found)
	}
	return text.String()
}

// isCard says whether the number passes the Luhn check, as card numbers do.
func isCard(number string) bool {
	sum, isDoubled := 0, false
	for at := len(number) - 1; at >= 0; at-- {
		if !isDigit(number[at]) {
			continue
		}
		digit := int(number[at] - '0')
		if isDoubled {
			digit = digit*2/10 + digit*2%10
		}
		sum, isDoubled = sum+digit, !isDoubled
	}
	return sum%10 == 0
}

func isDigit(sign byte) bool { return sign >= '0' && sign <= '9' }

func filter(_ context.Context, event signalbox.Object) (any, error) {
	given := map[string]any{}
	if event.Text("phase") == "before_call" {
		// "other" has the remaining members of a request, such as its tools. Not every event has it.
		for _, name := range []string{"messages", "system_prompt", "other"} {
			if value := event.Get("request", name); value != nil {
				given[name] = value
			}
		}
	} else {
		given["message"] = event.Get("response", "message")
	}
	changed := map[string]any{}
	for name, value := range given {
		if cleaned := clean(value); !reflect.DeepEqual(cleaned, value) {
			changed[name] = cleaned
		}
	}
	if len(changed) == 0 {
		return true, nil
	}
	return signalbox.Replace(changed).With("reason", "personal data was hidden"), nil
}

func main() { signalbox.Filter(filter).Run() }
