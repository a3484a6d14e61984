import type { RuntimeError } from '../../../src/base/errors.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { left } from './asking.ts';

export interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly reply: Reply | RuntimeError;
  readonly means: string;
}

export const row = (
  cites: string,
  title: string,
  point: string,
  reply: Row['reply'],
  means: string,
): Row => ({
  title,
  cites,
  point,
  reply,
  means,
});
export const json = (value: unknown) => left(JSON.stringify(value));
export const specific = (value: unknown) => json({ hookSpecificOutput: value });

export const spellings: readonly unknown[] = [
  { blockingError: 'no' },
  { blocking_error: 'no' },
  { attachment_type: 'hook_blocking_error', payload: { error: 'no' } },
  { hook_blocking_error: 'no' },
  { hook_blocking_error: { error: 'no' } },
  { messages: [{ role: 'user' }, { attachment_type: 'hook_blocking_error', payload: { error: 'no' } }] },
];
export const empties: readonly unknown[] = ['', ' ', false, 0, {}, [], { error: '' }];

export const prompt = (cites: string, title: string, reply: Row['reply'], means: string) =>
  row(cites, `UserPromptSubmit: ${title}`, 'UserPromptSubmit', reply, means);
export const tool = (cites: string, title: string, reply: Row['reply'], means: string) =>
  row(cites, `PreToolUse: ${title}`, 'PreToolUse', reply, means);
export const stop = (cites: string, title: string, reply: Row['reply'], means: string) =>
  row(cites, `Stop: ${title}`, 'Stop', reply, means);

export const blocked = 'deny "no" [Blocked by hook] no';
export const stopped = 'deny "enough" [Hook stopped] enough';
export const stock = 'the hook gave no reason';
