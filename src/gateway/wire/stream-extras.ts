import { isObject, Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { WireAnswer } from './codec.ts';
import { isSameMessage } from './replaced-messages.ts';

/** What the events of a stream tell that the whole answer does not have, by names for hooks. */
export type Extras = ReadonlyMap<string, Json>;

/** The answer with that in `other` of its message. A stream that is written anew has none of it. */
export function withExtras(answer: WireAnswer, extras: Extras): WireAnswer {
  const [message] = answer.messages;
  if (extras.size === 0 || message === undefined) return answer;
  const own = message['other'];
  const told = {
    ...message,
    other: toJson([...(own instanceof Json ? exactMembers(own) : []), ...extras]),
  };
  return {
    ...answer,
    messages: [told],
    write: (messages) => {
      const [changed, ...others] = messages;
      if (changed === undefined || others.length > 0) return answer.write(messages);
      if (isSameMessage(told, changed)) return answer.body;
      const body = answer.write([withoutExtras(changed, extras)]);
      // Even if only what the body does not have was changed, it is another answer, to be streamed without that.
      return body === answer.body ? `${body}\n` : body;
    },
  };
}

function withoutExtras(changed: ChatMessage, extras: Extras): ChatMessage {
  const { other } = changed;
  const json = other === undefined || other === null ? undefined : Json.from(other);
  if (json === undefined || !isObject(json.value)) return changed;
  const members = [...exactMembers(json)].filter(([name]) => !extras.has(name));
  return { ...changed, other: members.length === 0 ? undefined : toJson(members) };
}

function toJson(members: readonly (readonly [string, Json])[]): Json {
  return new Json(`{${members.map(([key, value]) => `${JSON.stringify(key)}:${value.text}`).join(',')}}`);
}
