// Package signalbox lets you write tools, filters, evaluators and observers for Signalbox: one program runs one-shot
// and as a server.
//
//	func main() {
//		signalbox.Tool(func(_ context.Context, request signalbox.Object) (any, error) {
//			return "Hello, " + request.Text("args", "name") + "!", nil
//		}).Run()
//	}
//
// The function gets the request as the protocol has it. From Run on, prints go to stderr. A filter that returns nil
// denies, an evaluator that returns nil fails, and so does every error and every panic. Handle returns the reply without
// a process, for tests.
//
// signalbox helper 0.1.0 (Go 1.19 and later). Update this copy with `npx signalbox init --helper --lang go`.
package signalbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"unicode/utf8"
)

// Object is a JSON object. Its numbers are json.Number, which keeps their digits.
type Object map[string]any

// Get returns the value at the path, or nil if there is none.
func (object Object) Get(path ...string) any {
	var value any = object
	for _, name := range path {
		switch members := value.(type) {
		case Object:
			value = members[name]
		case map[string]any:
			value = members[name]
		default:
			return nil
		}
	}
	return value
}

// Text returns the text at the path. Without one, it panics, and the call fails.
func (object Object) Text(path ...string) string { return require[string](object, path, "text") }

// Object returns the object at the path. Without one, it panics, and the call fails.
func (object Object) Object(path ...string) Object {
	return require[map[string]any](object, path, "object")
}

// List returns the list at the path. Without one, it panics, and the call fails.
func (object Object) List(path ...string) []any { return require[[]any](object, path, "list") }

// Number returns the number at the path. Without one, it panics, and the call fails.
func (object Object) Number(path ...string) float64 {
	number, err := require[json.Number](object, path, "number").Float64()
	if err != nil {
		panic(Fail(strings.Join(path, ".") + " is too large"))
	}
	return number
}

func require[Kind any](object Object, path []string, kind string) Kind {
	value, is := object.Get(path...).(Kind)
	if !is {
		panic(Fail("the request has no " + kind + " `" + strings.Join(path, ".") + "`"))
	}
	return value
}

// Fail is an error that fails a call with your own message. Every other error is a crash, with exit code 1.
type Fail string

func (fail Fail) Error() string { return string(fail) }

// Reply is a whole reply. The functions below make them.
type Reply map[string]any

// With adds a member to the reply, such as "metadata" or "data".
func (reply Reply) With(name string, value any) Reply {
	reply[name] = value
	return reply
}

// Pending, of a tool: a person decides. The tool is called again with "approval" in its request.
func Pending(message string) Reply {
	return Reply{"pending": map[string]any{"reason": "", "message": message}}
}

// Allow, of a filter: the same as true.
func Allow() Reply { return Reply{"allow": true} }

// Deny, of a filter: the call fails.
func Deny(reason string) Reply { return Reply{"allow": false, "reason": reason} }

// Withhold, of a filter: the call fails, and the caller gets the replacement in place of an answer.
func Withhold(reason, replacement string) Reply {
	return Deny(reason).With("enforced", true).With("metadata", map[string]any{"replacement": replacement})
}

// Ask, of a filter before a tool runs: a person decides.
func Ask(reason string) Reply { return Deny(reason).With("ask", true) }

// Replace, of a filter: the call goes on with these members: messages, system_prompt, message, args or content.
func Replace(members map[string]any) Reply { return Allow().With("replace", members) }

// Score, of an evaluator: a number from 0 to 1.
func Score(value float64) Reply { return Reply{"score": value} }

// Abstain, of an evaluator: there is nothing to score.
func Abstain(reason string) Reply { return Reply{"abstain": reason} }

// Function is what you write. The context ends when the caller no longer waits for a request of a server.
type Function func(ctx context.Context, request Object) (any, error)

// Program answers requests with a Function.
type Program struct {
	kind string
	work Function
}

// Tool: the function gets "args", and perhaps "approval" and "idempotency_key". It returns the result.
func Tool(work Function) Program { return Program{"tool", work} }

// Filter: the function gets "hook", "phase", "request" and "response". It returns true, false or a Reply.
func Filter(work Function) Program { return Program{"filter", work} }

// Evaluator: the function gets "type", "params", "content" and "context". It returns a number or a Reply.
func Evaluator(work Function) Program { return Program{"evaluator", work} }

// Observer: the function gets every event of its hook. What it returns has no effect.
func Observer(work Function) Program { return Program{"observer", work} }

// Handle returns the reply that the program would print. That of a failure is {"error": "…"}.
func (program Program) Handle(request string) map[string]any {
	text, _ := program.answer(context.Background(), []byte(request), same, failure)
	var reply map[string]any
	_ = decode(text, &reply)
	return reply
}

// Run answers the requests on stdin, and ends the program if it fails.
func (program Program) Run() {
	// From here on, what the program prints goes to stderr.
	out := os.Stdout
	os.Stdout = os.Stderr
	reader := bufio.NewReaderSize(os.Stdin, 1<<16)
	line, _ := reader.ReadBytes('\n')
	if isMessage(line) {
		program.serve(line, reader, out)
		return
	}
	rest, _ := io.ReadAll(reader)
	request := append(line, rest...)
	if len(bytes.TrimSpace(request)) == 0 {
		fmt.Fprintln(os.Stderr, "signalbox: stdin ended without a request")
		os.Exit(1)
	}
	text, status := program.answer(context.Background(), request, same, failure)
	if _, err := out.Write(append(text, '\n')); err != nil || status != 0 {
		os.Exit(1)
	}
}

func same(reply Reply) any              { return reply }
func failure(problem string, _ int) any { return Reply{"error": problem} }

// answer returns the text of the answer, and the exit code.
func (program Program) answer(
	ctx context.Context, request []byte, succeed func(Reply) any, fail func(string, int) any,
) (text []byte, status int) {
	hasPanicked := true
	defer func() {
		// Before Go 1.21, recover returns nil for panic(nil), too.
		if thrown := recover(); hasPanicked {
			problem, isError := thrown.(error)
			if !isError {
				problem = fmt.Errorf("panic: %v", thrown)
			}
			if !errors.As(problem, new(Fail)) {
				fmt.Fprintf(os.Stderr, "%v\n%s", thrown, debug.Stack())
			}
			text, status = program.failed(problem, fail)
		}
	}()
	reply, err := program.reply(ctx, request)
	if err == nil {
		text, err = encode(succeed(reply))
	}
	if err != nil {
		text, status = program.failed(err, fail)
	}
	hasPanicked = false
	return text, status
}

func (program Program) failed(problem error, fail func(string, int) any) ([]byte, int) {
	var meant Fail
	isMeant := errors.As(problem, &meant)
	if !isMeant {
		fmt.Fprintln(os.Stderr, problem)
	}
	message := problem.Error()
	if message == "" {
		message = "failed"
	}
	text, _ := encode(fail(message, 1))
	if isMeant && program.kind != "filter" {
		return text, 0
	}
	return text, 1
}

// reply checks the shape of the request first, so that no function decides about an empty or broken one.
func (program Program) reply(ctx context.Context, text []byte) (Reply, error) {
	var request Object
	if err := decode(text, &request); err != nil || request == nil {
		return nil, Fail("the request is not a JSON object")
	}
	switch program.kind {
	case "tool":
		request.Object("args")
	case "filter":
		request.Object("request")
		switch request.Text("phase") {
		case "before_call", "before_execution":
		case "after_call", "after_execution":
			request.Object("response")
		default:
			return nil, Fail("a filter has no phase " + request.Text("phase"))
		}
	case "evaluator":
		if cases, isBatch := request["batch"].([]any); isBatch {
			return program.replyToBatch(ctx, request["type"], cases)
		}
		request.Object("params")
		request.Text("content")
	}
	value, err := program.work(ctx, request)
	if err != nil {
		return nil, err
	}
	return program.toReply(value)
}

// replyToBatch answers case by case. The failure of one leaves only this case without a score.
func (program Program) replyToBatch(ctx context.Context, name any, cases []any) (Reply, error) {
	results := make([]json.RawMessage, len(cases))
	for index, each := range cases {
		members, is := each.(map[string]any)
		if !is {
			return nil, Fail("the request has no valid `batch`")
		}
		members["type"] = name
		text, err := encode(members)
		if err != nil {
			return nil, err
		}
		results[index], _ = program.answer(ctx, text, same, failure)
	}
	return Reply{"results": results}, nil
}

func (program Program) toReply(value any) (Reply, error) {
	if reply, is := value.(Reply); is && reply != nil {
		return reply, nil
	}
	switch program.kind {
	case "tool":
		return Reply{"result": value}, nil
	case "observer":
		return Reply{"ack": true}, nil
	case "filter":
		if value == nil {
			return Deny("the filter returned nothing"), nil
		}
		if verdict, is := value.(bool); is {
			return Reply{"allow": verdict}, nil
		}
		return nil, fmt.Errorf("a filter returns true, false or a Reply, not %T", value)
	}
	switch score := value.(type) {
	case bool:
		if score {
			return Score(1), nil
		}
		return Score(0), nil
	case float64:
		return Score(score), nil
	case json.Number:
		return Reply{"score": score}, nil
	case int:
		return Score(float64(score)), nil
	}
	return nil, fmt.Errorf("an evaluator returns a number or a Reply, not %T", value)
}

// ---- Messages of a server: JSON-RPC 2.0, one object per line ----

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// isMessage says whether the first line is one of a server. A request of one process has no member `jsonrpc`.
func isMessage(line []byte) bool {
	if !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		return false
	}
	var members map[string]json.RawMessage
	if decode(line, &members) != nil {
		return bytes.HasPrefix(line, []byte(`{"jsonrpc"`))
	}
	_, is := members["jsonrpc"]
	return is
}

type progressKey struct{}

// Progress says how far a tool is. A total of 0 is unknown. It has an effect only in a server.
func Progress(ctx context.Context, done, total float64, text string) {
	report, is := ctx.Value(progressKey{}).(func(Reply))
	if !is {
		return
	}
	params := Reply{"progress": done}
	if total != 0 {
		params["total"] = total
	}
	if text != "" {
		params["message"] = text
	}
	report(params)
}

func (program Program) serve(line []byte, reader *bufio.Reader, out io.Writer) {
	var lock sync.Mutex
	var calls, group = sync.Map{}, sync.WaitGroup{}
	send := func(text []byte) {
		lock.Lock()
		defer lock.Unlock()
		if _, err := out.Write(append(text, '\n')); err != nil {
			os.Exit(1)
		}
	}
	answer := func(ctx context.Context, id json.RawMessage, params []byte) {
		defer group.Done()
		defer calls.Delete(string(id))
		report := func(params Reply) {
			if text, err := encode(Reply{"jsonrpc": "2.0", "method": "progress", "params": params.With("id", id)}); err == nil {
				send(text)
			}
		}
		succeed := func(reply Reply) any {
			if value, is := reply["result"]; is && program.kind == "tool" {
				return Reply{"jsonrpc": "2.0", "id": id, "result": value}
			}
			return Reply{"jsonrpc": "2.0", "id": id, "result": reply}
		}
		text, _ := program.answer(context.WithValue(ctx, progressKey{}, report), params, succeed, rpcError(id))
		if id != nil {
			send(text)
		}
	}
	for err := error(nil); err == nil || len(line) > 0; line, err = reader.ReadBytes('\n') {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var request message
		text := []byte(nil)
		switch problem := decode(line, &request); {
		case problem != nil && !json.Valid(line):
			text, _ = encode(rpcError(nil)("the line is not JSON", -32700))
		case problem != nil || request.Method == "" || bytes.HasPrefix(request.ID, []byte("{")):
			text, _ = encode(rpcError(nil)("the line is not a request of JSON-RPC", -32600))
		case request.Method == "cancel":
			var params struct{ ID json.RawMessage }
			_ = json.Unmarshal(request.Params, &params)
			if cancel, is := calls.Load(string(params.ID)); is {
				cancel.(context.CancelFunc)()
			}
		case request.Method == "execute" && (request.ID != nil || program.kind == "observer"):
			ctx, cancel := context.WithCancel(context.Background())
			calls.Store(string(request.ID), cancel)
			group.Add(1)
			go func(id json.RawMessage, params []byte) {
				defer cancel()
				answer(ctx, id, params)
			}(request.ID, request.Params)
		case request.ID != nil:
			text, _ = encode(rpcError(request.ID)("there is no method "+request.Method, -32601))
		}
		if text != nil {
			send(text)
		}
	}
	group.Wait()
}

func rpcError(id json.RawMessage) func(string, int) any {
	return func(problem string, code int) any {
		return Reply{"jsonrpc": "2.0", "id": id, "error": Reply{"code": code, "message": problem}}
	}
}

// ---- JSON ----

func decode(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not UTF-8")
	}
	if !json.Valid(text) {
		return errors.New("the text is not JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}
