import { button, make } from '../../../base/page/dom.ts';
import { count, instant } from '../../../base/page/format.ts';
import { type Call, describe, inSentences } from '../api.ts';
import type { Page } from '../section.ts';

/** A decision as it is sent. `digest` is that of the call as it was shown. */
export interface Decision {
  readonly id: string;
  readonly decision: 'approve' | 'reject' | 'respond';
  readonly digest: string;
  readonly args?: unknown;
  readonly reason?: string;
  readonly result?: unknown;
}

/** What became of a decision; `problem` is a sentence for a person. */
export interface Outcome {
  readonly id: string;
  readonly pending: Call | undefined;
  readonly problem: string | undefined;
}

/** Decisions that are sent together. */
export interface Submission {
  readonly decisions: readonly Decision[];
  readonly onOutcome: (outcomes: readonly Outcome[]) => void;
  readonly onUndone?: () => void;
}

interface Entry extends Submission {
  readonly what: string;
  readonly toast: HTMLElement;
  readonly timer: number;
  isSent: boolean;
}

const UNDO_MS = 5_000;

/** Holds decisions back for some seconds. It outlives the section, but not the page: a closed tab sends nothing. */
export function makeOutbox({ api, say }: Page) {
  const held = new Set<Entry>();
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const stop = (entry: Entry) => {
    clearInterval(entry.timer);
    entry.toast.remove();
  };
  window.addEventListener('beforeunload', (event) => held.size > 0 && event.preventDefault());
  /** Until the server has answered, nothing else can be decided about these calls. */
  const send = async (entry: Entry) => {
    const { what, decisions, onOutcome } = entry;
    stop(entry);
    entry.isSent = true;
    let outcomes: readonly Outcome[];
    try {
      const { results } = await api.post('/pendings/decisions', { body: { decisions } });
      outcomes = results.map(({ id, pending, error }) => ({
        ...{ id, pending },
        problem: error && inSentences(pending ? describeState(pending) : error.message, error.hint),
      }));
    } catch (error) {
      outcomes = decisions.map(({ id }) => ({ id, pending: undefined, problem: describe(error) }));
    }
    const failed = outcomes.filter(({ problem }) => problem !== undefined);
    const done = outcomes.length - failed.length;
    if (done > 0)
      say(
        `${past[decisions[0]?.decision ?? 'approve']} ${done === 1 ? 'the call' : `${count(done)} calls`}.`,
      );
    if (failed[0]?.problem !== undefined)
      say(
        `${failed.length === 1 ? 'Not decided' : `${count(failed.length)} not decided`}: ${failed[0].problem} – ${what}`,
        'error',
      );
    held.delete(entry);
    onOutcome(outcomes);
    changed();
  };
  return {
    submit(what: string, given: Submission) {
      const left = make('span', { class: 'left', 'aria-hidden': 'true' });
      const toast = make(
        'div',
        { class: 'toast undo', role: 'status' },
        make('span', {}, what, make('span', { class: 'unseen' }, ' in 5 seconds. Press u to undo.')),
        left,
        button(['Undo ', make('kbd', { 'aria-hidden': 'true' }, 'u')], () => undo(entry)),
      );
      const until = performance.now() + UNDO_MS;
      const tick = () => {
        const rest = until - performance.now();
        left.textContent = `${Math.max(0, Math.ceil(rest / 1000))} s`;
        if (rest <= 0) void send(entry);
      };
      const entry: Entry = { ...given, what, toast, timer: window.setInterval(tick, 250), isSent: false };
      held.add(entry);
      tick();
      document.querySelector('.toasts')?.append(toast);
      changed();
    },
    /** Takes back all decisions that are held, and returns their number. */
    drop: () => {
      const entries = [...held];
      for (const entry of entries) stop(entry);
      held.clear();
      return entries.reduce((sum, { decisions }) => sum + decisions.length, 0);
    },
    /** Takes back the decision that is held about this call; without an id, the last one. */
    undo: (id?: string) =>
      undo([...held].findLast((each) => !each.isSent && (id === undefined || isAbout(each, id)))),
    heldFor: (id: string) => {
      for (const { decisions } of held) for (const each of decisions) if (each.id === id) return each;
      return undefined;
    },
    watch(watcher: () => void) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };

  function undo(entry: Entry | undefined) {
    if (entry === undefined) return false;
    stop(entry);
    held.delete(entry);
    say('Taken back. Nothing was sent.');
    entry.onUndone?.();
    changed();
    return true;
  }
}

function isAbout({ decisions }: Submission, call: string) {
  return decisions.some(({ id }) => id === call);
}

export type Outbox = ReturnType<typeof makeOutbox>;

const past = { approve: 'Approved', reject: 'Rejected', respond: 'Answered' };

/** Who decided what, for a person whose decision came too late. */
export function describeState({
  status,
  by,
  decided_at,
  decision_reason,
  approvals = [],
  quorum,
}: Call): string {
  if (status === 'open') {
    const names = approvals.map((each) => each.by).join(', ');
    return `The call has changed since it was shown${names === '' ? '' : `: approved by ${names}, of ${quorum ?? 1} needed`}.`;
  }
  const at = decided_at === null ? '' : ` (${instant(decided_at)})`;
  if (by === null) return `The call has ${status === 'expired' ? 'expired' : `been ${status}`}${at}.`;
  return `${by} has ${status === 'responded' ? 'answered' : status} this call${at}${decision_reason ? `: ${decision_reason}` : ''}.`;
}
