import { bashPlugin, nodePlugin, pythonPlugin, schemaOf } from './plugins.ts';

export const texts = bashPlugin(
  schemaOf('texts', ['pre_message', 'pre_system_prompt', 'post_system_prompt', 'pre_shell_exec']),
  `
INPUT=$(cat)
case "$CHIBI_HOOK" in
  pre_message) echo '{"prompt": "[texts] go on"}' ;;
  pre_system_prompt) echo '{"inject": "You are careful."}' ;;
  post_system_prompt) echo '{"inject": "Answer in Dutch."}' ;;
  pre_shell_exec)
    if echo "$INPUT" | grep -q "rm -rf"; then
      echo '{"denied": true, "reason": "Destructive command blocked"}'
    else
      echo '{}'
    fi ;;
esac`,
);

export const safety = pythonPlugin(
  schemaOf('safety', [
    ...['pre_system_prompt', 'post_system_prompt', 'pre_tool', 'pre_tool_output', 'pre_shell_exec'],
    ...['pre_file_read', 'pre_file_write', 'pre_fetch_url', 'pre_spawn_agent'],
  ]),
  `
if hook == "pre_system_prompt":
    print(json.dumps({"inject": "Context: " + data["context_name"]}))
elif hook == "post_system_prompt":
    print(json.dumps({"inject": "Be brief."}))
elif hook == "pre_tool":
    if data["tool_name"] == "forbidden":
        print(json.dumps({"block": True, "message": "not this one"}))
    else:
        print(json.dumps({"arguments": {**data["arguments"], "dry_run": True}}))
elif hook == "pre_tool_output":
    if "SECRET" in data["output"]:
        print(json.dumps({"block": True}))
    else:
        print(json.dumps({"output": data["output"].upper()}))
elif hook == "pre_file_read":
    print(json.dumps({"denied": data["path"].endswith(".env"), "reason": "no dotenv"}))
elif hook == "pre_file_write":
    print(json.dumps({"approved": False, "reason": "read-only day"}))
elif hook == "pre_fetch_url":
    print(json.dumps({"denied": True}))
elif hook == "pre_spawn_agent":
    print(json.dumps({"response": "cached answer", "block": True}))
else:
    print(json.dumps({}))`,
);

export const model = nodePlugin(
  schemaOf('model', [
    ...['pre_api_tools', 'pre_api_request', 'pre_agentic_loop', 'post_tool_batch'],
    ...['pre_cache_output', 'pre_send_message'],
  ]),
  `
const answers = {
  pre_api_tools: () => ({ include: ['a', 'b', 'c'], exclude: ['b'] }),
  pre_api_request: () => ({ request_body: { temperature: 0.5, model: data.request_body.model + '-mini' } }),
  pre_agentic_loop: () => ({ fallback: 'call_agent', fuel: 5, fuel_delta: -1 }),
  post_tool_batch: () => ({ fuel_delta: -data.tool_calls.length }),
  pre_cache_output: () => (data.tool_name === 'raw' ? { block: true } : { summary: data.line_count + ' lines' }),
  pre_send_message: () => (data.to === 'bob' ? { delivered: true } : {}),
};
console.log(JSON.stringify(answers[hook]()));`,
);
