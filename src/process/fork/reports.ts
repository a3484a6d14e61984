import { constants } from 'node:os';
import type { ExitStatus, Restraint } from '../launch/launch.ts';

/** What the helper says of itself and of its children; `id` is that of the request. */
export type Report =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'started'; readonly id: string; readonly pid: number }
  | { readonly type: 'failed'; readonly id: string; readonly reason: string }
  | { readonly type: 'ended'; readonly id: string; readonly end: ExitStatus };

/** A line of the helper; undefined for one that says nothing known. Source: fork-helper.py. */
export function readReport(line: string): Report | undefined {
  const [type, id = '', word = '', ...rest] = line.split(' ');
  switch (type) {
    case 'ready':
      return { type };
    case 'refused':
      return { type, reason: line.slice('refused '.length) };
    case 'started':
      return { type, id, pid: Number(word) };
    case 'failed':
      return { type, id, reason: [word, ...rest].join(' ') };
    case 'ended':
      return { type, id, end: readEnd(word, Number(rest[0])) };
    default:
      return undefined;
  }
}

function readEnd(how: string, number: number): ExitStatus {
  return how === 'exit' ? { exitCode: number, signal: null } : { exitCode: null, signal: signalName(number) };
}

function signalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `signal ${number}`;
}

/** Asks for a child with these descriptors of this process as its stdin, stdout and stderr, held to that. Source: fork-helper.py. */
export function encodeRequest(
  id: string,
  standard: readonly number[],
  restraint: Restraint | undefined,
): string {
  const joins = restraint?.joins.map((file) => Buffer.from(file).toString('hex')) ?? [];
  const limits = restraint?.limits.map(({ option, soft, hard }) => `${option}:${soft}:${hard}`) ?? [];
  return `${[id, process.pid, ...standard, joins.join(',') || '-', limits.join(',') || '-'].join(' ')}\n`;
}
