import type { ChatMessage } from '../../../contract/provider.ts';
import { Json } from '../../../json/json.ts';
import type { RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidRequest, unknownInRequest, unwritable } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import { openPlace, type Place } from '../place.ts';
import { isSameMessage, requireTold } from '../replaced-messages.ts';
import { openStrictly } from '../strict-json.ts';

/** Reads a request of `POST /v1/embeddings`: each text is a message of the user. Throws RefusedCall (400), for lists of tokens too. */
export function readEmbeddingsRequest(body: string, rules: WireRules): WireRequest {
  const place = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  const named = place.at('model');
  if (named?.text === undefined) throw invalidRequest('the body has no `model`', 'model');
  const read = readBody(place);
  return {
    model: named.text,
    isStream: false,
    maxTokens: undefined,
    choices: 1,
    payload: read.payload,
    toolResults: [],
    places: read.texts.map((_, index) => (read.isList ? `input[${index}]` : 'input')),
    write: (changed, model) => {
      const edits = new Edits(body);
      edits.replaceText(named, model);
      const isChanged = writeTexts(changed, { read, rules }, edits);
      const written = edits.apply();
      if (isChanged) requireTold(readBody(openPlace(written)).payload.messages, changed.messages);
      return written;
    },
  };
}

interface ReadBody {
  readonly place: Place;
  readonly texts: readonly Place[];
  readonly isList: boolean;
  readonly leftovers: Leftovers;
  readonly payload: RequestPayload;
}

function readBody(place: Place): ReadBody {
  const input = place.at('input');
  if (input === undefined) throw invalidRequest('the body has no `input`', 'input');
  const isList = input.kind === 'array';
  const texts = isList ? input.items : [input];
  const stray = texts.findIndex(({ kind }) => kind !== 'string');
  if (stray !== -1) {
    const what = texts[stray]?.kind === 'object' ? 'object' : 'tokens';
    throw unknownInRequest(what, isList ? `input[${stray}]` : 'input');
  }
  const leftovers = new Leftovers();
  leftovers.addMembers(place, toldOf(place));
  const payload = {
    messages: texts.map(({ text = '' }): ChatMessage => ({ role: 'user', content: text })),
    system_prompt: '',
    round: 1,
    tools: [],
    options: {},
    other: leftovers.json ?? new Json('{}'),
  };
  return { place, texts, isList, leftovers, payload };
}

function toldOf(place: Place): ReadonlySet<string> {
  const told = ['input', 'model'];
  if (place.at('dimensions')?.kind === 'number') told.push('dimensions');
  const format = place.at('encoding_format')?.text;
  if (format === 'float' || format === 'base64') told.push('encoding_format');
  return new Set(told);
}

interface SentBody {
  readonly read: ReadBody;
  readonly rules: WireRules;
}

/** Vectors of other texts would differ in silence, so texts are changed only where the config asks for it. */
function writeTexts(
  changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
  { read, rules }: SentBody,
  edits: Edits,
): boolean {
  const { payload, texts, place, leftovers } = read;
  if (changed.system_prompt !== '') throw unwritable('a request for embeddings has no system prompt');
  if (changed.messages.length !== texts.length) throw unwritable('the number of texts to embed has changed');
  let isChanged = false;
  for (const [index, message] of changed.messages.entries()) {
    const [sent, text] = [payload.messages[index], texts[index]];
    if (sent === undefined || text === undefined || isSameMessage(sent, message)) continue;
    if (!rules.redactsEmbeddings) {
      throw unwritable(
        'texts to embed may not be changed; spec.gateway.embeddings.redact of the config allows it',
      );
    }
    edits.replaceText(text, message.content);
    isChanged = true;
  }
  leftovers.write(changed.other, edits, place);
  return isChanged;
}
