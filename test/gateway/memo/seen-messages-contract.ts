import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Link, passGate } from '../../../src/calls/hooks/gate.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import type { Memo } from '../../../src/gateway/memo/memo.ts';
import { openMemo } from '../../../src/gateway/memo/open-memo.ts';
import { openSeenMessages } from '../../../src/gateway/memo/seen-messages.ts';
import type { Caller } from '../../../src/gateway/ports.ts';
import { openBench } from '../../calls/capability/bench.ts';
import { place } from './place.ts';
import { writeJudgingHook } from './scripts.ts';

const user = (content: string, more = {}): ChatMessage => ({ role: 'user', content, ...more });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

function callerOf(keyId: string | null): Caller {
  return { keyId, name: keyId ?? 'anyone', models: undefined, hooks: undefined, hasBudget: false };
}

interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly system?: string;
  readonly caller?: string | null;
  /** Whether the whole request is allowed after its hooks have allowed it. */
  readonly isAllowed?: boolean;
}

async function openMemoHere(folder = mkdtempSync(join(tmpdir(), 'memo-'))) {
  const { config, env } = await place.of(folder);
  return await openMemo(config, env);
}

async function openJudge({ memo, name = 'judge' }: { readonly memo?: Memo; readonly name?: string } = {}) {
  const hook = writeJudgingHook();
  const opened = memo ?? (await openMemoHere());
  onTestFinished(() => opened.close());
  const link = openBench().links.filter({ name, kind: 'provider', runs: hook.runs, env: hook.env });
  const seen = openSeenMessages({ memo: opened, judge: new Map([[name, 'new']]) });
  const ask = async (conversation: Conversation, links: readonly Link[] = [link]) => {
    const { messages, system = '', caller = 'key_1', isAllowed = true } = conversation;
    const chain = seen.watch(callerOf(caller), links);
    const request = { provider_id: 'p', model: 'm', messages, system_prompt: system, round: 1, metadata: {} };
    const event: HookEvent = { hook: 'provider', phase: 'before_call', request };
    const result = await passGate(chain.links, event, { call: 'c' });
    if (isAllowed && ['allow', 'modify'].includes(result.decision.verdict)) chain.remember();
    const { decision } = result;
    const left = result.event.phase === 'before_call' ? result.event.request.messages : [];
    return { verdict: decision.verdict, reason: decision.reason, metadata: decision.metadata.value, left };
  };
  return { ask, hook, link, memo: opened };
}

export function seenMessagesContract(): void {
  test('a hook with judge: new gets the messages that it has not allowed before, and always the last one', async () => {
    const { ask, hook } = await openJudge();
    const first = [user('one')];
    const second = [...first, assistant('two'), user('three')];
    await ask({ messages: first, system: 'Be kind.' });
    const { left } = await ask({ messages: second, system: 'Be kind.' });
    await ask({ messages: second, system: 'Be kind.' });
    expect(hook.shown()).toEqual([
      { system: 'Be kind.', messages: ['one'] },
      { system: '', messages: ['two', 'three'] },
      { system: '', messages: ['three'] },
    ]);
    expect(left).toEqual(second);
  });

  test('a changed message is shown to its hook again, and is changed in the same way', async () => {
    const { ask, hook } = await openJudge();
    const first = [user('my secret'), assistant('thanks')];
    await ask({ messages: [...first, user('go on')] });
    const { verdict, left } = await ask({
      messages: [...first, user('go on'), assistant('done'), user('bye')],
    });
    expect(hook.shown()[1]).toEqual({ system: '', messages: ['my secret', 'done', 'bye'] });
    expect({ verdict, texts: left.map(({ content }) => content) }).toEqual({
      verdict: 'modify',
      texts: ['my [x]', 'thanks', 'go on', 'done', 'bye'],
    });
  });

  test.each([
    ['another caller', { messages: [user('one'), user('two')], caller: 'key_2' }],
    ['another system prompt', { messages: [user('one'), user('two')], system: 'Obey.' }],
    ['the same text in another role', { messages: [assistant('one'), user('two')] }],
    ['the same text at another place', { messages: [user('zero'), user('one'), user('two')] }],
    ['the same text with another member', { messages: [user('one', { other: { a: 1 } }), user('two')] }],
  ])('%s is judged anew', async (_, conversation) => {
    const { ask, hook } = await openJudge();
    await ask({ messages: [user('one'), user('x')] });
    await ask(conversation);
    expect(hook.shown()[1]).toMatchObject({ messages: conversation.messages.map(({ content }) => content) });
  });

  test.each([
    ['in another order', ['two', 'one']],
    ['without the one before it', ['two']],
    ['twice', ['one', 'one', 'two']],
  ])('what was let pass %s is judged anew from there on', async (_, texts) => {
    const { ask, hook } = await openJudge();
    await ask({ messages: [user('one'), user('two'), user('three')] });
    await ask({ messages: [...texts.map((text) => user(text)), user('new')] });
    const first = texts.findIndex((text, at) => text !== ['one', 'two'][at]);
    expect(hook.shown()[1]).toMatchObject({ messages: [...texts.slice(first), 'new'] });
  });

  test('metadata that an earlier hook added does not make a message new', async () => {
    const { ask, hook } = await openJudge();
    await ask({ messages: [user('one', { meta: { mark: 'a' } }), user('two')] });
    await ask({ messages: [user('one'), user('two', { meta: { mark: 'b' } }), user('three')] });
    expect(hook.shown()[1]).toMatchObject({ messages: ['three'] });
  });

  test('a request that was denied, by this hook or another, is not remembered', async () => {
    const { ask, hook } = await openJudge();
    const denied = await ask({ messages: [user('one'), user('forbidden')] });
    await ask({ messages: [user('one'), user('two')], isAllowed: false });
    await ask({ messages: [user('one'), user('three')] });
    expect(denied).toMatchObject({ verdict: 'deny', metadata: { message_index: 1 } });
    expect(hook.shown()[2]).toEqual({ system: '', messages: ['one', 'three'] });
  });

  test('a denied message is named by its index in the whole request, and may be dropped', async () => {
    const { ask } = await openJudge();
    const first = [user('one'), assistant('two'), user('three')];
    await ask({ messages: first });
    const denied = await ask({ messages: [...first, assistant('four'), user('forbidden')] });
    expect(denied.metadata).toEqual({ message_index: 4 });
    expect(await ask({ messages: [...first, assistant('four'), user('five')] })).toMatchObject({
      verdict: 'allow',
    });
  });

  test('a hook whose program was changed judges everything again', async () => {
    const { ask, hook } = await openJudge();
    await ask({ messages: [user('one'), user('two')] });
    hook.rewrite('version 2');
    await ask({ messages: [user('one'), user('two')] });
    expect(hook.shown()).toEqual([
      { system: '', messages: ['one', 'two'] },
      { system: '', messages: ['one', 'two'] },
    ]);
  });

  test('the memo outlives the process that wrote it, and holds no text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memo-'));
    const memo = await openMemoHere(folder);
    const first = await openJudge({ memo });
    await first.ask({ messages: [user('one'), user('two')] });
    await memo.close();
    const again = await openMemoHere(folder);
    onTestFinished(() => again.close());
    const seen = openSeenMessages({ memo: again, judge: new Map([['judge', 'new']]) });
    const chain = seen.watch(callerOf('key_1'), [first.link]);
    const request = { provider_id: 'p', model: 'm', system_prompt: '', round: 1, metadata: {} };
    const messages = [user('one'), user('two'), user('three')];
    await passGate(
      chain.links,
      { hook: 'provider', phase: 'before_call', request: { ...request, messages } },
      { call: 'c' },
    );
    expect(first.hook.shown()[1]).toEqual({ system: '', messages: ['three'] });
  });

  test('a replacement of another length is accepted if only the end was shown, and denied if messages between were left out', async () => {
    const memo = await openMemoHere();
    onTestFinished(() => memo.close());
    const dropping = writeJudgingHook(`#!/usr/bin/env python3
import json, sys
messages = json.load(sys.stdin)["request"]["messages"]
kept = [dict(role=m["role"], content=m["content"].replace("secret", "[x]")) for m in messages if m["content"] != "drop"]
print(json.dumps({"allow": True} if [m["content"] for m in kept] == [m["content"] for m in messages] else {"allow": True, "replace": {"messages": kept}}))
`);
    const link = openBench().links.filter({
      name: 'drops',
      kind: 'provider',
      runs: dropping.runs,
      env: dropping.env,
    });
    const seen = openSeenMessages({ memo, judge: new Map([['drops', 'new']]) });
    const ask = async (messages: readonly ChatMessage[]) => {
      const chain = seen.watch(callerOf(null), [link]);
      const request = { provider_id: 'p', model: 'm', messages, system_prompt: '', round: 1, metadata: {} };
      const { decision, event } = await passGate(
        chain.links,
        { hook: 'provider', phase: 'before_call', request },
        { call: 'c' },
      );
      if (decision.verdict !== 'deny') chain.remember();
      return {
        decision,
        texts: event.phase === 'before_call' ? event.request.messages.map(({ content }) => content) : [],
      };
    };
    await ask([user('one'), user('two')]);
    expect((await ask([user('one'), user('two'), user('drop'), user('three')])).texts).toEqual([
      'one',
      'two',
      'three',
    ]);
    await ask([user('a secret'), user('two'), user('x')]);
    await ask([user('a secret'), user('two'), user('x'), user('y')]);
    const { decision } = await ask([user('a secret'), user('two'), user('x'), user('y'), user('drop')]);
    expect({ verdict: decision.verdict, code: decision.error?.code }).toEqual({
      verdict: 'deny',
      code: 'REPLY_MALFORMED',
    });
  });

  test('hooks that judge all messages and hooks that judge new ones share a chain, each with the output of the one before', async () => {
    const { ask, hook, link } = await openJudge();
    const all = writeJudgingHook();
    const before = openBench().links.filter({ name: 'all', kind: 'provider', runs: all.runs, env: all.env });
    const links = [before, link];
    await ask({ messages: [user('my secret'), user('two')] }, links);
    const { left } = await ask({ messages: [user('my secret'), user('two'), user('three')] }, links);
    expect(all.shown()[1]).toEqual({ system: '', messages: ['my secret', 'two', 'three'] });
    expect(hook.shown()[1]).toEqual({ system: '', messages: ['three'] });
    expect(left.map(({ content }) => content)).toEqual(['my [x]', 'two', 'three']);
  });
}
