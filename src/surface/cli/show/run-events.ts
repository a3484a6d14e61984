import type { RuntimeEvent } from '../../../contract/event.ts';
import type { StepDocument } from '../../../contract/run.ts';
import { visible, visibleLine } from '../../../text/escape-invisible.ts';
import type { Style, Terminal } from '../terminal.ts';
import type { Story } from './progress.ts';

export interface NarrateOptions {
  readonly tint: Terminal['tint'];
  /** Whether streamed answers are shown as they come. */
  readonly showsText: boolean;
  readonly formatDuration: (ms: number) => string;
}

/** Tells the events of a run, a line for each step. */
export function narrate(story: Story, options: NarrateOptions): (event: RuntimeEvent) => void {
  const { tint, showsText, formatDuration } = options;
  return (event) => {
    switch (event.type) {
      case 'run.started':
        story.tell(
          tint('dim', `${visibleLine(event.name)}: ${event.run} ${event.isResumed ? 'goes on' : 'started'}`),
        );
        return;
      case 'step.started':
        // Of what is inside a step, only the end is news.
        if (!/[/[]/.test(event.step)) story.tell(tint('dim', `${event.step}: ${event.kind} started`));
        return;
      case 'step.finished': {
        const { step, status, durationMs, error } = event;
        const after = status === 'skipped' ? '' : ` in ${formatDuration(durationMs)}`;
        const why = error === undefined ? '' : `: [${error.code}] ${visibleLine(error.message)}`;
        story.tell(`${step}: ${tint(styles[status], status)}${after}${why}`);
        return;
      }
      case 'pending.decided':
        story.tell(`${event.step.replace(/\/call$/, '')}: ${event.id} was ${event.ruling}`);
        return;
      case 'text':
        if (showsText) story.say(event.step, visible(event.text));
        return;
      default:
        // The log tells the rest to those who ask for it.
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
