import type { ChatMessage } from '../../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../../json/equal.ts';
import { Json } from '../../../../json/json.ts';
import { exactMembers } from '../../../../json/scan.ts';
import type { WireAnswer } from '../../codec.ts';
import type { Leftovers } from '../../leftovers.ts';

/**
 * The answer with what the events of its stream had beside it, told as members of `other`. A stream that is written anew
 * has none of that.
 */
export function withStreamLeftovers(answer: WireAnswer, leftovers: Leftovers): WireAnswer {
  const extra = leftovers.json;
  const [message] = answer.messages;
  if (extra === undefined || message === undefined) return answer;
  const own = message['other'];
  const other = join(own instanceof Json ? own : new Json('{}'), extra);
  return {
    ...answer,
    messages: [{ ...message, other }],
    write: (changed) => {
      const [given, ...rest] = changed;
      if (given === undefined || rest.length > 0) return answer.write(changed);
      const { kept, isSame } = split(given, extra);
      const body = answer.write([kept]);
      // The same text would let the events pass as they came.
      return isSame ? body : `${body} `;
    },
  };
}

function join(one: Json, other: Json): Json {
  const members = [...exactMembers(one), ...exactMembers(other)];
  return new Json(objectText(members));
}

/** The message without what only the stream had, and whether all of that is still there. */
function split(given: ChatMessage, extra: Json): { readonly kept: ChatMessage; readonly isSame: boolean } {
  const other = given['other'];
  if (other === undefined || other === null) return { kept: given, isSame: false };
  const members = [...exactMembers(Json.from(other))];
  const streamed = exactMembers(extra);
  const own = members.filter(([key]) => !streamed.has(key));
  const repeated = members.filter(([key]) => streamed.has(key));
  const isSame =
    repeated.length === streamed.size &&
    repeated.every(([key, value]) => isSameToTheDigit(value, streamed.get(key)));
  const { role, content, other: _, ...rest } = given;
  const kept = { ...rest, role, content, ...(own.length > 0 && { other: new Json(objectText(own)) }) };
  return { kept, isSame };
}

function objectText(members: readonly (readonly [string, Json])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value.text}`).join(',')}}`;
}
