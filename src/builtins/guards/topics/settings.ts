import { origins } from '../guard.ts';
import { type GuardHost, oneOf, readOptions, usageError } from '../program/options.ts';
import { scannedOrigins, type TopicSettings } from './rules.ts';

/** Throws USAGE. */
export function readSettings(argv: readonly string[], host: GuardHost): TopicSettings {
  const options = readOptions(
    { program: 'signalbox-topics', argv, env: host.env },
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
    score: host.openJudge(options.list('config'), options.text('judge') ?? 'judge'),
  };
}

function readNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0 && value <= most) return value;
  throw usageError(`--${option} cannot be ${text}`, `Give a number above 0, up to ${most}.`);
}
