import type { EvalToolCall } from '../../../../../contract/eval.ts';
import type { ChatMessage } from '../../../../../contract/provider.ts';
import type { EpochRecord } from '../../../../run/record.ts';
import { foreign, make } from '../dom.ts';
import { hasMembers, renderJson, toPrettyJson } from './json-view.ts';
import { renderText } from './long-text.ts';

/** The conversation with its tool calls; the message that was judged, often the last one, is marked. */
export function renderConversation({ messages, tool_calls: calls, content }: EpochRecord) {
  const judged = messages.findLastIndex(
    (message) => message.role === 'assistant' && message.content === content,
  );
  const known = messages.map((message, index) => {
    const own = calls.filter((call) => call.index === index);
    return renderMessage(message, own, index === judged);
  });
  const strangers = calls.filter(({ index }) => messages[index] === undefined).map(renderCall);
  if (known.length + strangers.length === 0) return [];
  return [make('h3', {}, 'Conversation'), make('ol', { class: 'talk' }, ...known, ...strangers)];
}

function renderMessage(
  { role, content, ...others }: ChatMessage,
  calls: readonly EvalToolCall[],
  isJudged: boolean,
) {
  // The calls of the epoch say the same and more.
  const { tool_calls: asked, ...rest } = others;
  const shown = calls.length > 0 || asked === undefined ? rest : others;
  return make(
    'li',
    { class: `message ${role}` },
    make(
      'p',
      { class: 'role' },
      foreign(role),
      ...(isJudged ? [make('span', { class: 'flag judged' }, 'judged text')] : []),
    ),
    ...(content === '' && calls.length > 0 ? [] : [renderText(content)]),
    ...(calls.length === 0 ? [] : [make('ol', { class: 'calls' }, ...calls.map(renderCall))]),
    ...(hasMembers(shown) ? [renderJson(shown)] : []),
  );
}

function renderCall({ name, args, result, error }: EvalToolCall) {
  const text = typeof args === 'string' ? args : toPrettyJson(args);
  return make(
    'li',
    { class: 'call' },
    make('p', { class: 'role' }, 'calls ', make('code', {}, foreign(name))),
    renderText(text, 'code'),
    ...(result === '' ? [] : [make('p', { class: 'role' }, 'result'), renderText(result, 'code')]),
    ...(error === '' ? [] : [make('p', { class: 'role bad' }, 'error'), renderText(error, 'code')]),
  );
}
