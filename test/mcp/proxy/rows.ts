import type { Channel } from '../../../src/mcp/proxy/channels.ts';

const rules: Readonly<Record<Channel['rule'], string>> = {
  call: 'judged as a call of the tool',
  judged: 'judged',
  answer: 'the answer is judged',
  protocol: 'no text passes',
};

/** The row of a message in docs/reference/mcp-proxy.md. */
export function rowOf({ method, from, kind, rule, pass }: Channel): string {
  const passes = pass === undefined ? 'always' : `\`${pass}\``;
  return `| \`${method}\` | ${from}, ${kind} | ${rules[rule]} | ${passes} |`;
}
