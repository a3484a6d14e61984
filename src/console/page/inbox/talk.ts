import { button, type Child, foreign, make, note } from '../../../base/page/dom.ts';
import { counted, instant } from '../../../base/page/format.ts';
import { renderText } from '../../../base/page/text.ts';
import { describe, type Reply } from '../api.ts';
import type { Page } from '../section.ts';
import { renderTree } from './json-tree.ts';

type Conversation = Reply<'GET', '/pendings/{id}/conversation'>;
type Message = Conversation['calls'][number]['messages'][number];

/** Draws the model calls before a call, the first page at once and others on request; `into` stays hidden without any. */
export async function renderConversation(
  { api }: Page,
  id: string,
  { into, signal }: { readonly into: HTMLElement; readonly signal: AbortSignal },
) {
  into.replaceChildren(make('h3', {}, 'Conversation'));
  const page = async (after?: string) => {
    try {
      const { calls, dropped, next } = await api.get('/pendings/{id}/conversation', {
        params: { id },
        query: after === undefined ? {} : { after },
        signal,
      });
      if (calls.length > 0) into.hidden = false;
      for (const call of calls) {
        into.append(make('p', { class: 'note' }, foreign(call.model), ` ${instant(call.at)}`));
        into.append(...[...call.messages, ...call.answers].map(renderMessage));
      }
      if (dropped > 0) into.append(note(`${counted(dropped, 'model call')} could not be recorded.`));
      if (next === undefined) return into.scrollTo({ top: into.scrollHeight });
      const more = button('Show what follows', () => {
        more.remove();
        void page(next);
      });
      into.append(more);
    } catch (error) {
      if (!signal.aborted) into.append(make('p', { class: 'bad' }, describe(error)));
    }
  };
  await page();
}

function renderMessage({ role, content, ...rest }: Message): Child & Node {
  const others = Object.keys(rest).length > 0;
  return make(
    'div',
    { class: `said ${role}` },
    make('p', { class: 'role' }, role),
    content !== '' && renderText(content),
    others && renderTree(rest),
  );
}
