import { type GuardHost, readOptions, usageError } from '../program/options.ts';

interface Settings<Judge> {
  readonly prompt: string;
  readonly judge: Judge;
  readonly timeoutMs: number;
}

/** Throws USAGE. */
export function readSettings<Judge>(argv: readonly string[], host: GuardHost<Judge>): Settings<Judge> {
  const kinds = { prompt: 'text', config: 'lines', judge: 'text', timeout: 'text' } as const;
  const options = readOptions({ program: 'signalbox-prompt', argv, env: host.env }, kinds);
  const prompt = options.text('prompt') ?? '';
  if (prompt.trim() === '') throw usageError('there is no prompt', 'Give --prompt.');
  const timeout = options.text('timeout') ?? '25000';
  if (!/^[1-9]\d{0,8}$/.test(timeout))
    throw usageError(`--timeout ${timeout} is no number of milliseconds`, 'Give a whole number, 25000 say.');
  return {
    prompt,
    judge: host.openJudge(options.list('config'), options.text('judge') ?? 'judge'),
    timeoutMs: Number(timeout),
  };
}
