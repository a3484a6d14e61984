import type { Terminal } from '../terminal.ts';

/** Writes the progress of a run to stderr. */
export interface RunProgress {
  /** Writes whole lines. */
  writeLine(text: string): void;
  /** Writes a piece of the streamed answer of a step. */
  writeText(step: string, piece: string): void;
  /** Queues everything until `resume`, while a person is asked on the terminal. */
  pause(): void;
  resume(): void;
  /** Ends the line of a streamed answer. */
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
