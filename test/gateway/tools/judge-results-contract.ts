import { expect, test } from 'vitest';
import { openBench } from '../../calls/capability/bench.ts';
import { openGuardLink } from '../memo/scripts.ts';
import { openJudgeBench, toolCall } from './judge-bench.ts';

const guard = `#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)
with open(os.environ["SHOWN"], "a") as shown:
    shown.write(json.dumps([event["request"], event["response"]]) + "\\n")
content = event["response"]["content"]
if "forbidden" in content: reply = {"allow": False, "reason": "not for models"}
elif "secret" in content: reply = {"allow": True, "replace": {"content": content.replace("secret", "[x]")}}
else: reply = {"allow": True}
print(json.dumps(reply))
`;

function guardLink() {
  const { hook, link } = openGuardLink(guard, 'after_execution');
  return { hook, links: [link] };
}

const turn = (id: string, content: string, args: object = { path: id }) => [
  { role: 'assistant', content: null, tool_calls: [toolCall(id, 'read', args)] },
  { role: 'tool', tool_call_id: id, content },
];
const first = { role: 'user', content: 'Read them.' };

export function judgeResultsContract(): void {
  test('a result is judged with its call, and stays byte for byte when hooks allow it', async () => {
    const { hook, links } = guardLink();
    const { results, contextOf, judge } = await openJudgeBench({ links });
    const context = contextOf({ messages: [first, ...turn('c1', '{"a": 1}')] });
    expect(await judge.judgeResults(context)).toBe(context.request.payload.messages);
    expect(hook.shown()).toEqual([
      [
        { name: 'read', args: { path: 'c1' }, call_id: 'c1' },
        { name: 'read', call_id: 'c1', content: '{"a": 1}', error: '', latency_ms: 0 },
      ],
    ]);
    await results({ messages: [first, { role: 'user', content: 'Nothing to judge.' }] });
    expect(hook.shown()).toHaveLength(1);
  });

  test('changed and withheld results stay so in place in every later turn, and are judged once', async () => {
    const { hook, links } = guardLink();
    const { results } = await openJudgeBench({ links });
    const early = [first, ...turn('c1', 'a secret'), ...turn('c2', 'forbidden words'), ...turn('c3', 'fine')];
    const judged = await results({ messages: early });
    expect(judged.map(({ content }) => content)).toEqual([
      ...['Read them.', '', 'a [x]', ''],
      ...['Tool "read" was blocked by hook "guard": not for models', '', 'fine'],
    ]);
    const later = await results({ messages: [...early, ...turn('c4', 'more')] });
    expect(later.slice(0, judged.length)).toEqual(judged);
    expect(hook.shown()).toHaveLength(4);
  });

  test('a result is judged again after a change of its hook, not after a restart', async () => {
    const { hook, links } = guardLink();
    const body = { messages: [first, ...turn('c1', 'a secret')] };
    const one = await openJudgeBench({ links });
    const judged = await one.results(body);
    await one.close();
    const two = await openJudgeBench({ links, folder: one.folder });
    expect(await two.results(body)).toEqual(judged);
    expect(hook.shown()).toHaveLength(1);
    hook.rewrite('version 2');
    expect(await two.results(body)).toEqual(judged);
    expect(hook.shown()).toHaveLength(2);
  });

  test.each([
    ['another caller', 'key_2', turn('c1', 'fine')],
    ['another call id', 'key_1', turn('c2', 'fine', { path: 'c1' })],
    ['other arguments', 'key_1', turn('c1', 'fine', { path: '/root' })],
  ])('the same text of %s is judged anew', async (_, caller, messages) => {
    const { hook, links } = guardLink();
    const { results } = await openJudgeBench({ links });
    await results({ messages: [first, ...turn('c1', 'fine')] });
    await results({ messages: [first, ...messages] }, caller);
    expect(hook.shown()).toHaveLength(2);
  });

  test('a result without a call is refused, because no hook could judge it', async () => {
    const { links } = guardLink();
    const { results } = await openJudgeBench({ links });
    const orphan = { role: 'tool', tool_call_id: 'c9', content: 'x' };
    await expect(results({ messages: [first, orphan] })).rejects.toMatchObject({
      refusal: { status: 400, code: 'tool_result_unknown', param: 'messages[1]' },
    });
  });

  test('a failed hook withholds the result, and judges it again the next time', async () => {
    const link = openBench().links.filter({
      name: 'broken',
      phases: ['after_execution'],
      runs: ['answers', 'secret words'],
    });
    const { results, store } = await openJudgeBench({ links: [link] });
    const judged = await results({ messages: [first, ...turn('c1', 'fine')] });
    expect(judged[2]?.content).toMatch(/^Tool "read" was blocked by hook "broken": the hook failed: /);
    expect(JSON.stringify(judged)).not.toContain('secret words');
    expect(store.location).toBeTruthy();
  });
}
