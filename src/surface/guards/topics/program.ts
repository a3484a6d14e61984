import { answer } from '../../../guards/answer.ts';
import { origins } from '../../../guards/guard.ts';
import { oneOf, readOptions, usageError } from '../../../guards/program/options.ts';
import { type Invocation, runProgram } from '../../../guards/program/program.ts';
import { createTopicRules, scannedOrigins, type TopicSettings } from '../../../guards/topics/rules.ts';
import { lazyJudge } from '../judge.ts';
import { help } from './help.ts';

const name = 'signalbox-topics';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name, help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createTopicRules(readSettings(argv, env));
  return { answer: (payload: unknown) => answer(payload, rules) };
}

/** Throws USAGE. */
function readSettings(argv: Invocation['argv'], env: Invocation['env']): TopicSettings {
  const options = readOptions(
    { program: name, argv, env },
    {
      config: 'lines',
      judge: 'text',
      'allow-topic': 'lines',
      'deny-topic': 'lines',
      threshold: 'text',
      timeout: 'text',
      scan: 'list',
    },
  );
  const [allowed, denied] = [options.list('allow-topic'), options.list('deny-topic')];
  if (allowed.length + denied.length === 0) {
    throw usageError('no topic is named', 'Give --allow-topic or --deny-topic, each as often as need be.');
  }
  const scanned = options.list('scan').map((word) => oneOf('origin', word, origins));
  return {
    allowed,
    denied,
    threshold: readNumber('threshold', options.text('threshold') ?? '0.5', 1),
    timeoutMs: readNumber('timeout', options.text('timeout') ?? '8000', 600_000),
    scans: (origin) => (scanned.length === 0 ? scannedOrigins : scanned).includes(origin),
    score: lazyJudge(options.list('config'), options.text('judge') ?? 'judge', env),
  };
}

function readNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0 && value <= most) return value;
  throw usageError(`--${option} cannot be ${text}`, `Give a number above 0, up to ${most}.`);
}
