import { button, type Child, foreign, make } from '../../../base/page/dom.ts';
import type { RunSummary } from '../../../contract/run.ts';
import { describe } from '../api.ts';
import type { Page } from '../section.ts';

/** Buttons for what this person may do with the run now. With `from`, only those about that step. */
export function renderControls(
  page: Page,
  run: RunSummary,
  onDone: () => Promise<void>,
  from?: string,
): Child {
  const { run_id: id, status, pending, parent } = run;
  // The outermost run controls the runs below it.
  if (!page.me.scopes.includes('runs:control') || parent !== undefined) return null;
  const params = { id };
  const ask = (action: Omit<Action, 'page' | 'run' | 'onDone'>) =>
    openDialog({ page, run, onDone, ...action });
  const retry = (step: string) =>
    ask({
      title: 'Retry this run?',
      verb: 'Retry the run',
      field: ['From step', step, 'the first step that failed'],
      act: (given) =>
        page.api.post('/runs/{id}/retry', { params, body: given === '' ? {} : { from: given } }),
    });
  const canRetry = status === 'failed' || status === 'denied';
  if (from !== undefined) return canRetry && button('Retry from this step', () => retry(from));
  const hasEnded = canRetry || status === 'completed' || status === 'cancelled';
  const canResume =
    ['suspended', 'waiting', 'cut_off'].includes(status) || (status === 'pending' && pending === 0);
  return [
    canResume &&
      button('Resume', () =>
        ask({
          title: 'Resume this run?',
          verb: 'Resume the run',
          act: () => page.api.post('/runs/{id}/resume', { params, body: {} }),
        }),
      ),
    canRetry && button('Retry', () => retry('')),
    !hasEnded &&
      button('Cancel', () =>
        ask({
          title: 'Cancel this run?',
          verb: 'Cancel the run',
          field: ['Reason', '', 'none'],
          act: (reason) =>
            page.api.post('/runs/{id}/cancel', { params, body: reason === '' ? {} : { reason } }),
        }),
      ),
  ];
}

interface Action {
  readonly page: Page;
  readonly run: RunSummary;
  readonly title: string;
  readonly verb: string;
  readonly field?: readonly [label: string, value: string, placeholder: string];
  act(given: string): Promise<unknown>;
  onDone(): Promise<void>;
}

/** Asks before it acts. An error leaves the dialog open, with what was typed. */
function openDialog({ page, run, title, verb, field, act, onDone }: Action) {
  const input = field && make('input', { value: field[1], placeholder: field[2], autocomplete: 'off' });
  const failure = make('p', { class: 'bad', role: 'alert' });
  const confirm = make('button', { type: 'submit', class: 'primary' }, verb);
  const dialog: HTMLDialogElement = make(
    'dialog',
    { class: 'confirm', 'aria-labelledby': 'confirm-title' },
    make('h2', { id: 'confirm-title' }, title),
    make('p', {}, foreign(run.name), ' ', foreign(run.run_id, 'place')),
    make(
      'form',
      {},
      field && make('label', { class: 'field' }, make('span', {}, field[0]), input),
      failure,
      make(
        'div',
        { class: 'form-row' },
        confirm,
        button('Close', () => dialog.close()),
      ),
    ),
  );
  dialog.addEventListener('submit', async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    try {
      await act(input?.value.trim() ?? '');
      dialog.close();
      page.say(`${verb.replace(' the run', '')}: done for run ${run.run_id}.`);
      await onDone();
    } catch (error) {
      failure.textContent = describe(error);
      confirm.disabled = false;
    }
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
