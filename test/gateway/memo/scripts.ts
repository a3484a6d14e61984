import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { openBench } from '../../calls/capability/bench.ts';

const fixtures = resolve(import.meta.dirname, '../../fixtures/bin');

const judging = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
request = event["request"]
with open(os.environ["SHOWN"], "a") as shown:
    shown.write(json.dumps({"system": request["system_prompt"], "messages": [m["content"] for m in request["messages"]]}) + "\\n")
def clean(message):
    if "secret" not in message["content"]:
        return message
    return {**message, "content": message["content"].replace("secret", "[x]"), "parts": []}
for index, message in enumerate(request["messages"]):
    if "forbidden" in message["content"]:
        print(json.dumps({"allow": False, "reason": "no", "metadata": {"message_index": index}}))
        sys.exit()
messages = [clean(message) for message in request["messages"]]
print(json.dumps({"allow": True} if messages == request["messages"] else {"allow": True, "replace": {"messages": messages}}))
`;

export interface JudgingHook {
  readonly runs: readonly [string];
  readonly env: readonly string[];
  /** For each request: the system prompt and the texts of the messages. */
  shown(): unknown[];
  /** Changes the bytes of the program, not its answers. */
  rewrite(comment: string): void;
  /** For scripts that read this file: allows everything from now on. */
  allowAll(): void;
}

export function writeJudgingHook(script = judging): JudgingHook {
  const folder = mkdtempSync(join(tmpdir(), 'judging-'));
  const file = join(folder, 'judge.py');
  const record = join(folder, 'shown');
  const write = (text: string) => {
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  };
  write(script);
  writeFileSync(record, '');
  return {
    runs: [relative(fixtures, file)],
    env: [`SHOWN=${record}`],
    shown: () =>
      readFileSync(record, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    allowAll: () => writeFileSync(`${record}.allow`, ''),
    rewrite: (comment) => write(`${script}# ${comment}\n`),
  };
}

export function openGuardLink(script: string, phase: 'before_execution' | 'after_execution') {
  const hook = writeJudgingHook(script);
  const { runs, env } = hook;
  return { hook, link: openBench().links.filter({ name: 'guard', phases: [phase], runs, env }) };
}
