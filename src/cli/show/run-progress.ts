import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import type { StepDocument } from '../../contract/run.ts';
import type { Style, Terminal } from '../terminal.ts';

export interface RunProgress {
  writeLine(text: string): void;
  writeText(step: string, piece: string): void;
  pause(): void;
  resume(): void;
  end(): void;
}

export function openRunProgress({
  printStderr,
  writeStderr,
}: Pick<Terminal, 'printStderr' | 'writeStderr'>): RunProgress {
  let queued: (() => void)[] | undefined;
  let currentStep: string | undefined;
  const endText = () => {
    if (currentStep !== undefined) writeStderr('\n');
    currentStep = undefined;
  };
  const runOrQueue = (action: () => void) => {
    if (queued === undefined) action();
    else queued.push(action);
  };
  return {
    writeLine: (text) =>
      runOrQueue(() => {
        endText();
        printStderr(text);
      }),
    writeText: (step, piece) =>
      runOrQueue(() => {
        if (currentStep !== step) {
          endText();
          writeStderr(`${step}: `);
        }
        currentStep = step;
        writeStderr(piece);
      }),
    pause: () => {
      endText();
      queued ??= [];
    },
    resume: () => {
      const actions = queued ?? [];
      queued = undefined;
      for (const action of actions) action();
    },
    end: () => runOrQueue(endText),
  };
}

export interface RunEventOptions {
  readonly tint: Terminal['styleStderr'];
  readonly showsText: boolean;
  readonly formatDuration: (ms: number) => string;
}

export function createRunEventPrinter(
  progress: RunProgress,
  options: RunEventOptions,
): (event: RuntimeEvent) => void {
  const { tint, showsText, formatDuration } = options;
  return (event) => {
    switch (event.type) {
      case 'run.started':
        progress.writeLine(
          tint(
            'dim',
            `${escapeInvisibleLine(event.name)}: ${event.run} ${event.isResumed ? 'resumed' : 'started'}`,
          ),
        );
        return;
      case 'step.started':
        // Nested steps are printed only when they end.
        if (!/[/[]/.test(event.step)) progress.writeLine(tint('dim', `${event.step}: ${event.kind} started`));
        return;
      case 'step.waiting':
        progress.writeLine(tint('dim', `${event.step}: waits until ${event.until}`));
        return;
      case 'step.finished': {
        const { step, status, durationMs, error } = event;
        const after = status === 'skipped' ? '' : ` in ${formatDuration(durationMs)}`;
        const why = error === undefined ? '' : `: [${error.code}] ${escapeInvisibleLine(error.message)}`;
        progress.writeLine(`${step}: ${tint(styles[status], status)}${after}${why}`);
        return;
      }
      case 'pending.decided':
        progress.writeLine(`${event.step.replace(/\/call$/, '')}: ${event.id} was ${event.ruling}`);
        return;
      case 'text':
        if (showsText) progress.writeText(event.step, escapeInvisible(event.text));
        return;
      default:
        return;
    }
  };
}

const styles: Readonly<Record<StepDocument['status'], Style>> = {
  ok: 'green',
  failed: 'red',
  denied: 'red',
  skipped: 'dim',
  pending: 'yellow',
};
