import { createRequire } from 'node:module';
import type { DestinationStream, Logger } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { openOutputSink } from '../../base/files/output-sink.ts';
import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { escapeCommands } from '../../base/text/escape-commands.ts';
import { escapeControls, escapeInvisible } from '../../base/text/escape-invisible.ts';
import type { LoggingConfig } from '../../config/config.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import type { Redact, Scrubber } from '../../contract/scrub.ts';
import { createRedact, isCredentialName } from './redact.ts';

const load = createRequire(import.meta.url);

export interface LogTarget {
  /** A file descriptor; 2 is stderr. */
  readonly fd: number;
  readonly write?: (lines: string) => void;
  readonly isTerminal: boolean;
  readonly hasColour: boolean;
}

export interface LogOptions {
  readonly logging: LoggingConfig;
  readonly name: string;
  readonly scrubber?: Pick<Scrubber, 'text'> | undefined;
  readonly secrets?: Iterable<string>;
  readonly target: LogTarget;
}

export interface Log {
  (event: RuntimeEvent): void;
  /** Whether events of this type can be written at the log's level. */
  readonly hears: (type: RuntimeEvent['type']) => boolean;
  readonly wants: (event: RuntimeEvent) => boolean;
}

export function openLog(options: LogOptions): Log {
  const hide = options.scrubber?.text ?? createRedact(options.secrets ?? []);
  // Texts are escaped here, before the line is coloured.
  const redact = isText(options) ? (text: string) => escapeCommands(escapeInvisible(hide(text))) : hide;
  const least = weights[options.logging.level];
  const wants = (event: RuntimeEvent) => isLogged(event.type) && weights[levelOf(event)] >= least;
  const hears = (type: RuntimeEvent['type']) =>
    isLogged(type) && weights[highestLevels[type] ?? 'debug'] >= least;
  let logger: Logger | undefined;
  const take = (event: RuntimeEvent) => {
    if (!wants(event)) return;
    logger ??= openLogger(options, redact);
    write(logger, redact, event);
  };
  return Object.assign(take, { hears, wants });
}

/** pino takes longer to load than most commands run, so it is loaded for the first line. */
function openLogger(options: LogOptions, redact: Redact): Logger {
  const { pino }: typeof import('pino') = load('pino');
  const { level, fields } = options.logging;
  const base = { ...(options.name === '' ? {} : { config: options.name }), ...fields };
  // pino writes these fields on every line, past the redaction of events.
  const shown = Object.fromEntries(
    Object.entries(base).map(([key, value]) => [key, redactTree(value, redact)]),
  );
  return pino({ level, base: shown }, openStream(options));
}

function openStream({ logging, target }: LogOptions): DestinationStream {
  const { fd, write, hasColour } = target;
  const sink = write === undefined ? openOutputSink(fd) : { write };
  if (!isText({ logging, target }))
    return { write: (line) => sink.write(escapeCommands(escapeControls(line))) };
  const pretty = loadPretty()({
    colorize: hasColour,
    singleLine: true,
    ignore: membersInMessage.join(),
    translateTime: 'SYS:HH:MM:ss.l',
  });
  return { write: (line) => sink.write(pretty(line)) };
}

function isText({ logging, target }: Pick<LogOptions, 'logging' | 'target'>): boolean {
  return logging.format === undefined ? target.isTerminal : logging.format === 'text';
}

function loadPretty(): (options: PrettyOptions) => (line: string) => string {
  const { prettyFactory }: typeof import('pino-pretty') = load('pino-pretty');
  return prettyFactory;
}

const membersInMessage = [
  'pid',
  'hostname',
  'config',
  'event',
  'name',
  'line',
  'capability',
  'call',
  'status',
  'durationMs',
  'queueMs',
  'error',
  'hook',
  'dialect',
  'kind',
  'phase',
  'mode',
  'verdict',
  'reason',
  'exitCode',
  'signal',
  'deaths',
  'pauseMs',
  'what',
  'detail',
];

function write(logger: Logger, redact: Redact, event: RuntimeEvent): void {
  logger[levelOf(event)](redactTree(membersOf(event), redact), redact(messageOf(event)));
}

function membersOf(event: RuntimeEvent): Readonly<Record<string, unknown>> {
  const { type, ...members } = event;
  // The text of conversations is not logged.
  if (event.type === 'text') return { event: type, run: event.run, step: event.step };
  // The line already has the level and message of a note.
  if (event.type === 'note') return { event: type, name: event.name };
  return {
    event: type,
    ...('error' in members ? { ...members, error: withoutPrinted(members.error) } : members),
  };
}

/**
 * Removes what the process printed in place of a reply. It may repeat all of its input, so only the command line shows
 * it.
 */
function withoutPrinted(fault: unknown): unknown {
  if (!isObject(fault) || !isObject(fault['details']) || !('text' in fault['details'])) return fault;
  const { text: _, ...details } = fault['details'];
  return { ...fault, details };
}

/** The log has the parts of an operation: its calls, decisions and steps. */
function isLogged(type: RuntimeEvent['type']): boolean {
  return type !== 'operation.started' && type !== 'operation.finished';
}

type Level = 'debug' | 'info' | 'warn';

/** Source: the level numbers of pino. */
const weights = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: Infinity } as const;

function levelOf(event: RuntimeEvent): Level {
  switch (event.type) {
    case 'decision':
      return event.verdict === 'deny' || event.verdict === 'abort' ? 'info' : 'debug';
    case 'call.finished':
      return event.status === 'untold' ? 'warn' : 'debug';
    case 'circuit.opened':
      return 'warn';
    case 'process.restarted':
    case 'stderr':
      return 'info';
    case 'dropped':
      return event.what === 'late reply'
        ? 'debug'
        : event.what === 'noise' || event.what === 'server request' || event.what === 'stderr'
          ? 'info'
          : 'warn';
    case 'note':
      return event.level;
    default:
      return 'debug';
  }
}

const highestLevels: Readonly<Partial<Record<RuntimeEvent['type'], Level>>> = {
  decision: 'info',
  'call.finished': 'warn',
  'circuit.opened': 'warn',
  'process.restarted': 'info',
  stderr: 'info',
  dropped: 'warn',
  note: 'warn',
};

function messageOf(event: RuntimeEvent): string {
  switch (event.type) {
    case 'call.started':
      return `${event.capability} ${event.name} started`;
    case 'call.finished':
      return `${event.capability} ${event.name}: ${event.status} in ${event.durationMs} ms${afterQueue(event)}${event.error ? `: ${event.error.message}` : ''}`;
    case 'decision':
      return `hook ${event.hook}: ${event.mode === 'shadow' ? 'would ' : ''}${event.verdict}${event.reason === '' ? '' : `: ${event.reason}`}`;
    case 'plugin_hook_fired':
      return `${event.hook_name} was fired`;
    case 'process.started':
      return `${event.name}: process ${event.pid} started`;
    case 'process.ended':
      return `${event.name}: process ${event.pid} ended with ${event.signal ?? event.exitCode}`;
    case 'process.restarted':
      return `${event.name}: started again as process ${event.pid}`;
    case 'circuit.opened':
      return `${event.name}: ended ${event.deaths} times in a row, calls are paused for ${event.pauseMs / 1000} s`;
    case 'dropped':
      return `${event.name}: ${event.what} dropped: ${event.detail}`;
    case 'stderr':
      return `${event.name}: ${event.line}`;
    case 'note':
      return `${event.name}: ${event.message}`;
    case 'pending.opened':
      return `${event.step}: waits for a person (${event.id}): ${event.message}`;
    case 'pending.decided':
      return `${event.step}: ${event.id} was ${event.ruling}`;
    case 'step.started':
      return `${event.step}: ${event.kind} step started`;
    case 'step.waiting':
      return `${event.step}: waits until ${event.until}`;
    case 'step.finished':
      return `${event.step}: ${event.status} in ${event.durationMs} ms${event.error ? `: ${event.error.message}` : ''}`;
    case 'text':
      return `${event.step}: ${event.text.length} characters of the answer released`;
    case 'run.started':
      return `${event.name}: run ${event.run} ${event.isResumed ? 'resumed' : 'started'}`;
    case 'operation.started':
      return `${event.operation} ${event.name} started`;
    case 'operation.finished':
      return `${event.operation} ${event.name}: ${event.status} in ${event.durationMs} ms`;
    case 'run.finished':
      return `${event.name}: run ${event.run} ${event.status}${event.error ? `: ${event.error.message}` : ''}`;
  }
}

function afterQueue({ queueMs }: { readonly queueMs: number }): string {
  return queueMs === 0 ? '' : ` after ${queueMs} ms in the queue`;
}

/**
 * Redacts credentials, by member name and by value in every text. Long numbers keep their digits; values nested more
 * than 64 levels deep are omitted.
 */
export function redactTree(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (depth === MAX_DEPTH) return '[nested too deeply]';
  if (value instanceof Json) return redactTree(parseJson(value), redact, depth);
  if (Array.isArray(value)) return value.map((element) => redactTree(element, redact, depth + 1));
  const members = Object.entries(value).map(([key, member]) => [
    redact(key),
    isCredentialName(key) && isCredentialValue(member) ? '[redacted]' : redactTree(member, redact, depth + 1),
  ]);
  return Object.fromEntries(members);
}

const MAX_DEPTH = 64;

function parseJson({ text }: Json): unknown {
  try {
    return parseLossless(text);
  } catch {
    // The text was valid JSON, so it can only be too deep for the stack.
    return '[nested too deeply]';
  }
}

function isCredentialValue(member: unknown): boolean {
  return member !== null && member !== undefined && typeof member !== 'boolean';
}
