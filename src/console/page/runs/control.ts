import { button, type Child, flat, foreign, make } from '../../../base/page/dom.ts';
import type { RunSummary } from '../../../contract/run.ts';
import { describe } from '../api.ts';
import type { Page } from '../section.ts';

interface Action {
  readonly verb: 'Cancel' | 'Resume' | 'Retry';
  readonly field?: readonly [label: string, value: string, placeholder: string];
  act(given: string): Promise<unknown>;
}

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
  const { api } = page;
  const params = { id };
  const canRetry = status === 'failed' || status === 'denied';
  const stands =
    ['suspended', 'waiting', 'cut_off'].includes(status) || (status === 'pending' && pending === 0);
  const resume: Action = { verb: 'Resume', act: () => api.post('/runs/{id}/resume', { params, body: {} }) };
  const retry: Action = {
    verb: 'Retry',
    field: ['From step', from ?? '', 'the first step that failed'],
    act: (step) => api.post('/runs/{id}/retry', { params, body: step === '' ? {} : { from: step } }),
  };
  const cancel: Action = {
    verb: 'Cancel',
    field: ['Reason', '', 'none'],
    act: (reason) => api.post('/runs/{id}/cancel', { params, body: reason === '' ? {} : { reason } }),
  };
  const show = (action: Action, label: string = action.verb) =>
    button(label, () => openDialog(page, run, { ...action, onDone }));
  if (from !== undefined) return canRetry && show(retry, 'Retry from this step');
  const hasEnded = canRetry || status === 'completed' || status === 'cancelled';
  return [stands && show(resume), canRetry && show(retry), !hasEnded && show(cancel)];
}

/** Asks before it acts. An error leaves the dialog open, with what was typed. */
function openDialog(
  page: Page,
  run: RunSummary,
  { verb, field, act, onDone }: Action & { readonly onDone: () => Promise<void> },
) {
  const input = field && make('input', { value: field[1], placeholder: field[2], autocomplete: 'off' });
  const failure = make('p', { class: 'bad', role: 'alert' });
  const confirm = make('button', { type: 'submit', class: 'primary' }, `${verb} the run`);
  const dialog: HTMLDialogElement = make(
    'dialog',
    { class: 'confirm', 'aria-labelledby': 'confirm-title' },
    make('h2', { id: 'confirm-title' }, `${verb} this run?`),
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
      page.say(`${verb}: done for run ${run.run_id}.`);
      await onDone();
    } catch (error) {
      failure.replaceChildren(...flat([describe(error)]));
      confirm.disabled = false;
    }
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
