import { foreign, make } from './dom.js';
import { hasMembers, renderJson, toPrettyJson } from './json-view.js';
import { renderText } from './long-text.js';

/** @import { EvalToolCall } from '../../../../contract/eval.ts' */
/** @import { ChatMessage } from '../../../../contract/provider.ts' */
/** @import { EpochRecord } from '../../../run/record.ts' */

/**
 * What was judged: the conversation with its tool calls, and the text, which is often its last message.
 * @param {EpochRecord} epoch
 */
export function renderConversation({ messages, tool_calls: calls, content }) {
  const judged = messages.findLastIndex(
    (message) => message.role === 'assistant' && message.content === content,
  );
  const known = messages.map((message, index) => {
    const own = calls.filter((call) => call.index === index);
    return renderMessage(message, own, index === judged);
  });
  const strangers = calls.filter(({ index }) => messages[index] === undefined).map(renderCall);
  const parts = [
    ...(known.length + strangers.length === 0 ? [] : [make('h3', {}, 'Conversation')]),
    ...(known.length + strangers.length === 0 ? [] : [make('ol', { class: 'talk' }, ...known, ...strangers)]),
  ];
  return judged >= 0 ? parts : [...parts, make('h3', {}, 'Judged text'), renderText(content)];
}

/**
 * @param {ChatMessage} message
 * @param {readonly EvalToolCall[]} calls
 * @param {boolean} isJudged
 */
function renderMessage({ role, content, ...others }, calls, isJudged) {
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

/** @param {EvalToolCall} call */
function renderCall({ name, args, result, error }) {
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
