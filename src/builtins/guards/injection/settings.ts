import { origins } from '../guard.ts';
import { type GuardHost, oneOf, readOptions, usageError } from '../program/options.ts';
import { defaultThresholds, type InjectionSettings, scannedOrigins } from './rules.ts';

/** Throws USAGE. */
export function readSettings(argv: readonly string[], host: GuardHost): InjectionSettings {
  const options = readOptions(
    { program: 'signalbox-injection', argv, env: host.env },
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
    score: judge === undefined ? undefined : host.openJudge(options.list('config'), judge),
  };
}

function readShare(option: string, text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share > 0 && share <= 1) return share;
  throw usageError(`--${option} ${text} is no share`, 'Give a number above 0, up to 1.');
}
