import { stringifyJson } from '../../../base/json/json.ts';
import { renderDiff } from '../../../base/page/diff.ts';
import { button, factList, flat, fold, foreign, make, note } from '../../../base/page/dom.ts';
import { counted, instant } from '../../../base/page/format.ts';
import { renderText, toPrettyJson } from '../../../base/page/text.ts';
import { ApiError, type Call, describe, inSentences } from '../api.ts';
import type { Page } from '../section.ts';
import { makeEditor, type Read } from './editor.ts';
import { renderTree } from './json-tree.ts';
import { ageOf, askerOf, stateKind, stateOf } from './list.ts';
import { type Decision, describeState, type Outbox, type Outcome } from './outbox.ts';
import { renderConversation } from './talk.ts';

/** What a person has typed about a call. It is kept until a decision is made. */
interface Draft {
  mode: 'decide' | 'edit' | 'respond';
  reason: string;
  /** JSON text. */
  readonly texts: { edit?: string; respond?: string };
  problem?: string;
}

/** By person and call: another key may follow in the same tab. */
const drafts = new Map<string, Draft>();

/** A second press of a key must not decide about a call that has only just appeared. */
const SETTLE_MS = 300;

interface Options {
  readonly page: Page;
  readonly outbox: Outbox;
  readonly onClose: () => void;
  /** A decision is on its way. */
  readonly onDecided: (id: string) => void;
}

/** The call that is open, and the decision about it. */
export function makeCallPane({ page, outbox, onClose, onDecided }: Options) {
  const { api, me } = page;
  const element = make('section', { class: 'call', 'aria-label': 'Call' });
  let shown: Call | undefined;
  let wanted = '';
  let read: Read = { value: undefined };
  let stopped = new AbortController();
  let check = 0;
  let shownAt = 0;
  let isRejecting = false;
  let isHeld = false;
  const talk = make('section', { class: 'talk', 'aria-label': 'Conversation', hidden: true });
  const none = note('Select a call to see it whole.');
  element.append(none);

  const showAges = () => {
    const now = page.api.now();
    for (const part of element.querySelectorAll<HTMLElement>('[data-asked]'))
      part.textContent = agoOf(now - Date.parse(part.dataset['asked'] ?? ''));
    for (const part of element.querySelectorAll<HTMLElement>('[data-expires]')) {
      const left = Date.parse(part.dataset['expires'] ?? '') - now;
      part.textContent = left <= 0 ? 'now' : `in ${ageOf(left)}`;
    }
  };
  const tick = () => {
    showAges();
    if (shown === undefined) return;
    // The server says whether it has expired: the clock of this machine may be wrong.
    const { id, status, expires_at: end } = shown;
    if (status === 'open' && end !== null && Date.parse(end) <= page.api.now()) void load(id);
  };
  const timer = window.setInterval(() => !document.hidden && tick(), 1_000);

  const draftOf = (id: string) => {
    const known = drafts.get(`${me.id} ${id}`) ?? { mode: 'decide', reason: '', texts: {} };
    drafts.set(`${me.id} ${id}`, known);
    return known;
  };

  const load = async (id: string) => {
    try {
      const call = await api.get('/pendings/{id}', { params: { id }, signal: stopped.signal });
      if (wanted !== id) return;
      element.removeAttribute('aria-busy');
      const isSame =
        shown?.id === id &&
        shown.digest === call.digest &&
        shown.status === call.status &&
        shown.use === call.use;
      if (isSame) return;
      if (shown?.id === id && shown.digest !== call.digest) draftOf(id).problem = describeState(call);
      if (shown?.id !== id) shownAt = performance.now();
      shown = call;
      render();
    } catch (error) {
      if (stopped.signal.aborted || wanted !== id) return;
      element.removeAttribute('aria-busy');
      // The header says that the connection is lost.
      if (shown?.id === id) return;
      const title =
        error instanceof ApiError && error.status === 404
          ? 'There is no such call'
          : 'The call cannot be shown';
      element.replaceChildren(
        back(),
        make('h2', { tabindex: -1 }, title),
        make('p', { role: 'alert' }, describe(error)),
      );
    }
  };

  const back = () => button('Back to the list', onClose, { class: 'link back' });

  const render = () => {
    const call = shown;
    if (call === undefined) return;
    const draft = draftOf(call.id);
    isHeld = outbox.heldFor(call.id) !== undefined;
    const restore = keepPlace(element);
    element.replaceChildren(
      make('header', { class: 'call-head' }, back(), renderTitle(call)),
      make(
        'div',
        { class: 'call-body' },
        talk,
        make(
          'div',
          { class: 'call-main' },
          renderProblem(draft),
          renderMessage(call),
          renderSubject(call, draft),
          renderFacts(page, call),
        ),
      ),
      renderBar(call, draft),
    );
    restore();
    showAges();
  };

  const renderSubject = (call: Call, draft: Draft) => {
    const subject = make('div', { class: 'subject' });
    if (draft.mode === 'decide' || call.status !== 'open') {
      const isQuestion = call.tool === '@ask';
      subject.append(
        ...(isQuestion ? [] : [renderArgs(call.args, 'Arguments')]),
        ...renderDecided(page, call),
      );
      return subject;
    }
    const { mode } = draft;
    const asked = toPrettyJson(call.args);
    const changes = make('div', { class: 'changes' });
    const state = make('p', { class: 'check', role: 'status' });
    const update = (text: string, now: Read) => {
      draft.texts[mode] = text;
      read = now;
      clearTimeout(check);
      state.className = 'check';
      if ('problem' in now) {
        state.classList.add('bad');
        state.replaceChildren(...flat([now.problem]));
        return;
      }
      if (mode === 'respond') {
        state.textContent = typeof now.value === 'string' ? 'The answer is a text.' : 'The answer is JSON.';
        return;
      }
      state.textContent = 'Checking …';
      check = window.setTimeout(() => void checkEdited(call, now.value, state), CHECK_MS);
      const edited = toPrettyJson(now.value);
      const words = { removed: 'asked', added: 'edited' };
      changes.replaceChildren(
        edited === asked
          ? note('Nothing is changed so far.')
          : make(
              'div',
              {},
              make('h3', {}, 'Edited against asked'),
              renderDiff(asked, edited, words) ?? note('Too long to compare word by word.'),
            ),
      );
    };
    const { schema, start } = mode === 'edit' ? { schema: call.input_schema, start: asked } : answerOf(call);
    const editor = makeEditor({
      id: `editor-${mode}`,
      label: mode === 'edit' ? 'Arguments as JSON' : 'Answer: JSON, or a text',
      ...{ schema, text: draft.texts[mode] ?? start, takesText: mode === 'respond', onInput: update },
    });
    const title =
      mode === 'edit'
        ? 'Edit the arguments'
        : call.tool === '@ask'
          ? 'Answer the question'
          : 'Answer in place of the tool';
    subject.append(make('h3', {}, title), editor, state, changes);
    if (mode === 'respond' && call.tool !== '@ask') subject.append(renderArgs(call.args, 'Arguments'));
    return subject;
  };

  const checkEdited = async ({ id }: Call, args: unknown, state: HTMLElement) => {
    try {
      const { outcome, error } = await api.post('/pendings/{id}/check', { params: { id }, body: { args } });
      if (wanted !== id || !state.isConnected) return;
      state.classList.toggle('bad', error !== undefined);
      state.classList.toggle('good', error === undefined);
      const words =
        error === undefined ? (outcomes[outcome] ?? outcome) : inSentences(error.message, error.hint);
      state.replaceChildren(...flat([words]));
    } catch (error) {
      state.replaceChildren(...flat([`The arguments could not be checked: ${describe(error)}`]));
    }
  };

  const renderBar = (call: Call, draft: Draft) => {
    const { id, choices, status } = call;
    const held = outbox.heldFor(id);
    const bar = make('footer', { class: 'decide' });
    isRejecting = false;
    if (status !== 'open') return bar;
    const why = held === undefined ? whyNot(page, call) : 'This decision is about to be sent.';
    if (why !== undefined) {
      bar.append(note(why), ...(held === undefined ? [] : [button('Undo', () => outbox.undo(id))]));
      return bar;
    }
    const reason = make('input', {
      id: 'reason',
      type: 'text',
      placeholder: 'Reason',
      'aria-label': 'Reason',
      autocomplete: 'off',
    });
    reason.value = draft.reason;
    reason.addEventListener('input', () => {
      draft.reason = reason.value;
    });
    reason.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && isRejecting) reject();
    });
    const act = (key: string, label: string, kind: string, call: () => void) =>
      button([label, ' ', make('kbd', { 'aria-hidden': 'true' }, key)], call, {
        class: kind,
        'aria-keyshortcuts': key,
      });
    const has = (choice: Call['choices'][number]) => choices.includes(choice);
    const buttons =
      draft.mode === 'decide'
        ? [
            has('approve') && act('a', 'Approve', 'primary', approve),
            has('edit') && act('e', 'Edit', '', () => setMode('edit')),
            (has('respond') || has('answer')) &&
              button(has('answer') ? 'Answer' : 'Answer instead', () => setMode('respond')),
            has('reject') && act('r', 'Reject', 'danger', reject),
          ]
        : [
            draft.mode === 'edit'
              ? act('a', 'Approve edited', 'primary', approve)
              : button('Send the answer', respond, { class: 'primary' }),
            button('Cancel', () => setMode('decide')),
          ];
    bar.append(reason, make('div', { class: 'buttons' }, buttons));
    return bar;
  };

  const setMode = (mode: Draft['mode']) => {
    if (shown === undefined) return;
    draftOf(shown.id).mode = mode;
    render();
    const target = mode === 'decide' ? 'footer button' : '.editor input, .editor select, .editor textarea';
    element.querySelector<HTMLElement>(target)?.focus();
  };

  const submit = (decision: Decision['decision'], more: Pick<Decision, 'args' | 'result'>) => {
    const call = shown;
    if (call === undefined || outbox.heldFor(call.id) !== undefined) return;
    const { id, tool, digest, message, reason } = call;
    const draft = draftOf(id);
    delete draft.problem;
    const given = { id, decision, digest, ...(draft.reason !== '' && { reason: draft.reason }), ...more };
    const onOutcome = ([outcome]: readonly Outcome[]) => {
      if (outcome?.problem === undefined) drafts.delete(`${me.id} ${id}`);
      else draft.problem = outcome.problem;
      if (wanted !== id) return;
      if (outcome?.pending !== undefined) shown = outcome.pending;
      render();
      void load(id);
    };
    const name = tool === '@ask' ? 'a question' : tool;
    // The message has the arguments that were asked for.
    const about = 'args' in more ? ', with edited arguments' : `: ${cut(message || reason)}`;
    const what = `${doing[decision]} ${name}${about}`;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    outbox.submit(what, { decisions: [given], onOutcome });
    onDecided(id);
    if (wanted === id) render();
  };
  const may = (choice: Call['choices'][number]) =>
    shown?.choices.includes(choice) === true && whyNot(page, shown) === undefined;
  const approve = () => {
    if (shown === undefined || !may('approve')) return;
    if (draftOf(shown.id).mode !== 'edit') return submit('approve', {});
    if ('problem' in read) return page.say(read.problem, 'error');
    const isSame = stringifyJson(read.value) === stringifyJson(shown.args);
    submit('approve', isSame ? {} : { args: read.value });
  };
  const respond = () => {
    if ('problem' in read) return page.say(read.problem, 'error');
    const { unwrap } = shown === undefined ? { unwrap: (value: unknown) => value } : answerOf(shown);
    submit('respond', { result: unwrap(read.value) });
  };
  const reject = () => {
    if (shown === undefined || !may('reject')) return;
    if (draftOf(shown.id).reason.trim() !== '') return submit('reject', {});
    isRejecting = true;
    const field = element.querySelector<HTMLInputElement>('#reason');
    if (field === null) return;
    field.placeholder = 'Why do you reject it? Enter rejects.';
    field.focus();
  };

  return {
    element,
    /** '' for no call. */
    async show(id: string) {
      if (id === wanted) return;
      wanted = id;
      stopped.abort();
      stopped = new AbortController();
      shown = undefined;
      talk.hidden = true;
      element.removeAttribute('aria-busy');
      if (id === '') return element.replaceChildren(none);
      // What is drawn is still the call before, about which nothing can be decided any more.
      element.setAttribute('aria-busy', 'true');
      if (me.records.content) void renderConversation(page, id, { into: talk, signal: stopped.signal });
      await load(id);
    },
    refresh: () => wanted !== '' && void load(wanted),
    /** The outbox has changed. */
    update: () => shown !== undefined && isHeld !== (outbox.heldFor(shown.id) !== undefined) && render(),
    focus: () => element.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true }),
    key({ key }: KeyboardEvent) {
      if (shown === undefined || shown.status !== 'open') return false;
      if (performance.now() < shownAt + SETTLE_MS) return true;
      const { mode } = draftOf(shown.id);
      if (key === 'a' && mode !== 'respond') approve();
      else if (key === 'r' && mode === 'decide') reject();
      else if (key === 'e' && mode === 'decide' && may('edit')) setMode('edit');
      else return false;
      return true;
    },
    close() {
      stopped.abort();
      clearInterval(timer);
    },
  };
}

/** Returns a function that restores the focus, the caret and the scrolled parts after the element is drawn anew. */
function keepPlace(element: HTMLElement) {
  const parts = ['.talk', '.call-body', '.call-main'];
  const tops = parts.map((part) => element.querySelector(part)?.scrollTop ?? 0);
  const focused = document.activeElement;
  const caret =
    focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement
      ? focused.selectionStart
      : null;
  const isInside = focused !== null && focused.id !== '' && element.contains(focused);
  return () => {
    for (const [index, part] of parts.entries())
      element.querySelector(part)?.scrollTo({ top: tops[index] ?? 0 });
    const field = isInside ? document.getElementById(focused.id) : null;
    if (field === null && isInside && caret !== null) keepTyping(element, focused);
    field?.focus({ preventScroll: true });
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
      field.setSelectionRange(caret, caret);
  };
}

/** Whoever is typing when the call is decided elsewhere goes on in the field, so that letters do not become shortcuts. */
function keepTyping(element: HTMLElement, field: Element) {
  field.toggleAttribute('readonly', true);
  element.querySelector('footer')?.append(field);
  if (field instanceof HTMLElement) field.focus({ preventScroll: true });
}

function cut(text: string) {
  return text.length <= 120 ? text : `${text.slice(0, 120)} …`;
}

const CHECK_MS = 400;
const doing = { approve: 'Approve', reject: 'Reject', respond: 'Answer' };
const outcomes: Readonly<Record<string, string>> = {
  resumes: 'The arguments fit. The call goes on when you approve.',
  needs_approvals: 'The arguments fit. Others must approve too.',
};

function renderTitle(call: Call) {
  const state = stateOf(call);
  return [
    make('h2', { tabindex: -1 }, foreign(call.tool === '@ask' ? 'Question' : call.tool)),
    make(
      'span',
      { class: `flag ${state === '' ? 'judged' : stateKind(call)}` },
      state === '' ? 'waiting' : state,
    ),
  ];
}

function renderMessage({ message, reason }: Call) {
  return make('div', { class: 'message' }, renderText(message || reason));
}

function renderFacts(page: Page, call: Call) {
  const {
    reason,
    created_at: made,
    expires_at: end,
    deciders,
    approvals = [],
    quorum,
    hook,
    run,
    previous,
  } = call;
  const root = call.root_run_id ?? call.run_id;
  const asker = call.caller === null ? {} : { ...call.caller };
  const labels = Object.entries(run.labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
  const runName = [foreign(run.name), ' ', make('small', {}, root)];
  const mayRead = page.me.sections.includes('runs');
  return [
    factList([
      ['Asked by', call.caller === null ? null : foreign(askerOf(call))],
      [
        'Run',
        mayRead
          ? make('a', { class: 'link', href: page.hrefOf(`/runs/${encodeURIComponent(root)}`) }, runName)
          : runName,
      ],
      ['Step', call.step === '' ? null : foreign(call.step)],
      ['Labels', labels === '' ? null : foreign(labels)],
      [
        'Waits because',
        [
          hook !== null && ['of the hook ', foreign(hook), ': '],
          reason || (call.tool === '@ask' ? 'the pipeline asks a person' : origins[call.origin]),
        ],
      ],
      ['Asked', make('span', { title: made }, make('span', { 'data-asked': made }), `, ${instant(made)}`)],
      [
        'Expires',
        call.status !== 'open'
          ? null
          : end === null
            ? 'never'
            : [make('span', { 'data-expires': end }), `, ${instant(end)}`],
      ],
      ['May decide', deciders === null ? 'anyone with a name' : foreign(deciders.join(', '))],
      [
        'Approvals',
        quorum === undefined
          ? null
          : [
              `${approvals.length} of ${quorum}`,
              approvals.map(({ by, reason: why, at }) =>
                make('div', {}, foreign(by), ` ${instant(at)}`, why !== '' && [': ', foreign(why)]),
              ),
            ],
      ],
      [
        'Approved before',
        previous === null
          ? null
          : make(
              'a',
              { class: 'link', href: page.hrefOf(`/inbox/${encodeURIComponent(previous)}`) },
              previous,
            ),
      ],
    ]),
    Object.keys(asker).length > 1 && fold('About the caller', false, renderTree(asker)),
    entriesCount(call.members) > 0 &&
      fold(call.tool === '@ask' ? 'About the question' : 'From the tool', false, renderTree(call.members)),
  ];
}

const origins: Readonly<Record<Call['origin'], string>> = {
  tool: 'the tool asked for a decision',
  hook: 'a hook requires a decision',
  approval: 'the config requires approval',
  interrupted: 'the call was cut off, and its effect is unknown',
};

function entriesCount(value: unknown) {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function renderArgs(args: unknown, title: string) {
  const body = make('div', {}, renderTree(args));
  const toggle = button(
    'As JSON',
    () => {
      const isText = toggle.getAttribute('aria-pressed') === 'true';
      toggle.setAttribute('aria-pressed', String(!isText));
      body.replaceChildren(isText ? renderTree(args) : renderText(toPrettyJson(args), 'code'));
    },
    { class: 'link', 'aria-pressed': 'false' },
  );
  return make(
    'section',
    { class: 'args', 'aria-label': title },
    make('div', { class: 'args-head' }, make('h3', {}, title), toggle),
    body,
  );
}

function renderDecided(page: Page, call: Call) {
  const { status, edited_args: edited, result, args } = call;
  if (status === 'open') return [];
  const words = { removed: 'asked', added: 'edited' };
  return [
    make('p', { class: 'decided' }, describeState(call)),
    call.use === 'not_used' && renderNotUsed(page, call),
    call.use === 'expired' && note('The caller did not come back in time. The call never ran.'),
    edited !== null &&
      make(
        'div',
        {},
        make('h3', {}, 'Edited against asked'),
        renderDiff(toPrettyJson(args), toPrettyJson(edited), words) ?? renderTree(edited),
      ),
    status === 'responded' && renderArgs(result, 'Answer'),
  ].filter((each) => each !== false);
}

function renderNotUsed({ me, hrefOf }: Page, { caller, run_id: run, root_run_id: root = run }: Call) {
  if (caller !== null) return note('The caller has not come back for it yet.');
  const mayResume = me.scopes.includes('runs:control') && me.sections.includes('runs');
  const how = mayResume
    ? make('a', { class: 'link', href: hrefOf(`/runs/${encodeURIComponent(root)}`) }, 'Resume the run')
    : [make('code', {}, 'signalbox work'), ' resumes the run'];
  return note('The run has not gone on yet. ', how, ', unless the process that started it does.');
}

function renderProblem({ problem }: Draft) {
  return problem !== undefined && make('p', { class: 'fault', role: 'alert' }, problem);
}

function agoOf(ms: number) {
  return ms < 1_000 ? 'now' : `${ageOf(ms)} ago`;
}

/** Why this person cannot decide; undefined if they can. The server decides. */
function whyNot({ me }: Page, { deciders, approvals = [], quorum = 1, choices }: Call): string | undefined {
  if (!me.scopes.includes('pendings:decide')) return 'Your key may look, but not decide.';
  if (deciders !== null && !deciders.includes(me.name)) return `Only ${deciders.join(', ')} may decide.`;
  if (approvals.some(({ by }) => by === me.name))
    return `You have approved. ${counted(quorum - approvals.length, 'more approval')} needed.`;
  return choices.length === 0 ? 'With this config, the call cannot be decided.' : undefined;
}

/** The schema of the answer, and where it starts. A form needs an object, so another value is wrapped in one. */
function answerOf({ tool, members }: Call) {
  const asIs = (value: unknown) => value;
  const { schema } = { ...(members as { schema?: unknown }) };
  if (tool !== '@ask' || typeof schema !== 'object' || schema === null)
    return { schema: undefined, start: '', unwrap: asIs };
  const { type, enum: choices } = schema as { type?: unknown; enum?: unknown };
  if (type === 'object') return { schema, start: '{}', unwrap: asIs };
  const isSimple =
    Array.isArray(choices) || ['string', 'number', 'integer', 'boolean'].includes(String(type));
  if (!isSimple) return { schema: undefined, start: '', unwrap: asIs };
  return {
    schema: { type: 'object', properties: { Answer: schema }, required: ['Answer'] },
    start: '{}',
    unwrap: (value: unknown) =>
      typeof value === 'object' && value !== null && 'Answer' in value ? value.Answer : value,
  };
}
