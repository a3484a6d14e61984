#!/usr/bin/env node
// A filter that looks through all strings and keys of what it is asked about, and does what the marks in them say. Request
// and answer: Zdeny…, Zredact…, Zenforce…, Zdie…, Zhang…, Zbabble…; in a request Zname… becomes pn-…, and in an answer the
// other way round.
import { createInterface } from 'node:readline';

const mark = /Z(deny|redact|enforce|die|hang|babble)q[0-9a-f]{3} ?[0-9a-f]{3}/;

function texts(value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, inner]) => `${key}\n${texts(inner)}`)
    .join('\n');
}

/** The value with every string and key changed. */
function change(value, edit) {
  if (typeof value === 'string') return edit(value);
  if (Array.isArray(value)) return value.map((inner) => change(inner, edit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [edit(key), change(inner, edit)]));
}

const redact = (text) => text.replace(/Zredactq[0-9a-f]{3} ?[0-9a-f]{3}/g, '[gone]');
const hide = (text) => text.replace(/Zname([0-9a-f]{3} ?[0-9a-f]{3})/g, 'pn-$1');
const restore = (text) => text.replace(/pn-([0-9a-f]{3} ?[0-9a-f]{3})/g, 'Zname$1');

function decide({ phase, request, response }) {
  const isRequest = phase === 'before_call';
  const { messages, system_prompt, other } = request;
  const asked = isRequest ? { messages, system_prompt, other } : { message: response.message };
  const all = texts(asked);
  const [, action] = mark.exec(all) ?? [];
  if (action === 'redact') return { allow: true, replace: change(asked, redact) };
  if (action === 'enforce')
    return { allow: false, enforced: true, reason: 'marked', metadata: { replacement: 'a stand-in' } };
  if (action !== undefined) return action === 'deny' ? { allow: false, reason: 'marked' } : action;
  const edit = isRequest ? hide : restore;
  const changed = change(asked, edit);
  return JSON.stringify(changed) === JSON.stringify(asked)
    ? { allow: true }
    : { allow: true, replace: changed };
}

const noise = ['Zbabble is no JSON', '{"jsonrpc":"2.0","id":', '[1]', '{"allow":true}'];

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line);
  const result = decide(params);
  if (result === 'hang') return;
  if (result === 'die') process.exit(3);
  if (result === 'babble') {
    process.stdout.write(`${noise.join('\n')}\n{"jsonrpc":"2.0","id":${id},"result":{"allow":"yes"}}\n`);
    return;
  }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
