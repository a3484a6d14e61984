import { answer } from '../../../guards/answer.ts';
import { origins } from '../../../guards/guard.ts';
import {
  createInjectionRules,
  defaultThresholds,
  type InjectionSettings,
  scannedOrigins,
} from '../../../guards/injection/rules.ts';
import { oneOf, readOptions, usageError } from '../../../guards/program/options.ts';
import { type Invocation, runProgram } from '../../../guards/program/program.ts';
import { lazyJudge } from '../judge.ts';
import { help } from './help.ts';

const name = 'signalbox-injection';

/** Answers what stdin asks, on stdout. Resolves to the exit code. */
export async function main(invocation: Invocation): Promise<0 | 1 | 2> {
  return await runProgram({ name, help, open }, invocation);
}

function open(argv: Invocation['argv'], env: Invocation['env']) {
  const rules = createInjectionRules(readSettings(argv, env));
  return { answer: (payload: unknown) => answer(payload, rules) };
}

/** Throws USAGE. */
function readSettings(argv: Invocation['argv'], env: Invocation['env']): InjectionSettings {
  const options = readOptions(
    { program: name, argv, env },
    { scan: 'list', threshold: 'text', instructions: 'text', config: 'lines', judge: 'text' },
  );
  const scanned = options.list('scan').map((word) => oneOf('origin', word, origins));
  const { threshold, instructionThreshold } = defaultThresholds;
  const told = options.text('instructions') ?? String(instructionThreshold);
  const judge = options.text('judge');
  return {
    scans: (origin) => (scanned.length === 0 ? scannedOrigins : scanned).includes(origin),
    threshold: readShare('threshold', options.text('threshold') ?? String(threshold)),
    instructionThreshold: told === 'off' ? undefined : readShare('instructions', told),
    score: judge === undefined ? undefined : lazyJudge(options.list('config'), judge, env),
  };
}

function readShare(option: string, text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw usageError(`--${option} ${text} is no share`, 'Give a number above 0, up to 1.');
}
