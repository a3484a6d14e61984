import { hostEnv } from '../../binding/env.ts';
import type { Emit, RuntimeEvent } from '../../contract/event.ts';
import { type Scrubber, scrubMessages } from '../../contract/scrub.ts';
import { toRuntimeError } from '../../errors.ts';
import type { ResultStore } from '../../store/result-store.ts';
import type { RuntimeOptions } from '../api.ts';
import { openShadowRecorder } from '../shadow-recorder.ts';
import type { LoadedRuntime } from './load.ts';

/** Where the events of a runtime go. */
export interface RuntimeEvents {
  readonly emit: Emit;
  /** Waits for what is being stored of them. Never rejects. */
  close(): Promise<void>;
}

/** Opens the listeners, scrubbed: the caller's, the log, the recorder of shadows; emits what has happened already. */
export async function openEvents(
  { config, scrubber, events }: LoadedRuntime,
  results: () => Promise<ResultStore>,
  options: RuntimeOptions,
): Promise<RuntimeEvents> {
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  if (options.log !== false) listeners.push(await openLogOf({ config, scrubber }, options));
  const notify = (event: RuntimeEvent) => {
    for (const listener of listeners) notifyListener(listener, event);
  };
  const shadows = openShadowRecorder(config, results, notify);
  const emit = (given: RuntimeEvent) => {
    const event = scrubEvent(given, scrubber);
    notify(event);
    if (event.type === 'decision') shadows.listen(event);
  };
  for (const event of events) emit(event);
  return { emit, close: () => shadows.close() };
}

async function openLogOf(
  { config, scrubber }: Pick<LoadedRuntime, 'config' | 'scrubber'>,
  options: RuntimeOptions,
): Promise<Emit> {
  const { openLog } = await import('../../log/log.ts');
  const { fd = 2, write, isTerminal = process.stderr.isTTY } = options.log || {};
  const { hasColour = isTerminal && (hostEnv()['NO_COLOR'] ?? '') === '' } = options.log || {};
  const target = { fd, ...(write && { write }), isTerminal, hasColour };
  return openLog({ logging: config.logging, name: config.name, scrubber, target });
}

/** Calls a listener; an error that it throws becomes a process warning. */
function notifyListener(listener: Emit, event: RuntimeEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.emitWarning(`a listener of Signalbox threw: ${toRuntimeError(error).message}`);
  }
}

/** The event with secrets hidden in its messages. The text of a model is data and stays as it is. */
function scrubEvent(event: RuntimeEvent, scrubber: Scrubber): RuntimeEvent {
  switch (event.type) {
    case 'text':
      return event;
    case 'stderr':
      return { ...event, line: scrubber.text(event.line) };
    case 'call.finished': {
      const { error } = event;
      return error === undefined
        ? event
        : { ...event, error: { ...error, message: scrubber.text(error.message) } };
    }
    default:
      return scrubMessages(event, scrubber);
  }
}
