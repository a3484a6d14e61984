import { fireHook } from '../../models/guard-bench.ts';
import type { Delta, Said } from './small-codec.ts';

export const content = (text: string, choice = 0, block?: number): Said => ({
  text: [[choice, 'content', text, ...(block === undefined ? [] : [block])] as unknown as Delta],
});
export const reasoning = (text: string): Said => ({ text: [[0, 'reasoning', text]] });
export const end: Said = { end: true, tokens: 3 };
export const allow = fireHook(() => ({}));
export const deny = fireHook(() => ({ verdict: 'deny', reason: 'no' }));
export const modes = [
  { title: 'hold', settings: {} },
  { title: 'windowed', settings: { windowChars: 8 } },
];
export const long: Said[] = [...'0123456789'.repeat(5)].map((char) => content(char));
export const everything: Said[] = [
  { free: 'start' },
  reasoning('I think that this is good'),
  { free: 'ping' },
  content('Hello '),
  ...long,
  { echo: 'all of it' },
  { call: '{"a":1}' },
  content(' world'),
  end,
  { free: 'usage' },
];
