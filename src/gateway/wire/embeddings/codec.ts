import { Json } from '../../../base/json/json.ts';
import type { ChatMessage } from '../../../contract/provider.ts';
import { costOf, openAiUsage, readOpenAiUsage, writeMessages } from '../bodies.ts';
import type { EndpointCodec, RequestPayload, WireAnswer, WireRequest, WireRules } from '../codec.ts';
import { formatOpenAiError, readOpenAiError } from '../error-body.ts';
import { bodySpot, Edits, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidAnswer, invalidRequest, unknownInRequest, unwritable } from '../refusal.ts';
import { isSameMessage, requireTold } from '../replaced-messages.ts';
import { rewrite } from '../rewrite.ts';
import { describe, Seen } from '../seen.ts';
import { type Shape, words } from '../shape.ts';
import { walk } from '../walk.ts';

/** `POST /v1/embeddings`: https://platform.openai.com/docs/api-reference/embeddings. */
export const embeddingsCodec: EndpointCodec = {
  name: 'embeddings',
  readRequest,
  readAnswer,
  readError: readOpenAiError,
  refusal: formatOpenAiError,
};

const requestShape: Shape = {
  members: {
    model: 'model',
    input: { string: { show: 'text' }, array: { each: { string: { show: 'text' } } } },
    dimensions: 'number',
    encoding_format: words('float', 'base64'),
  },
};

const answerShape: Shape = {
  members: {
    id: 'id',
    object: words('list'),
    model: 'id',
    created: 'number',
    usage: openAiUsage,
    data: { items: { members: { object: words('embedding'), index: 'number', embedding: 'vector' } } },
  },
};

function readRequest(body: string, rules: WireRules): WireRequest {
  const place = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  const named = place.at('model');
  if (named?.text === undefined) throw invalidRequest('the body has no `model`', 'model');
  const read = readTexts(place, rules);
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
      if (isChanged) requireTold(readTexts(openPlace(written), rules).payload.messages, changed.messages);
      return written;
    },
  };
}

interface ReadTexts {
  readonly seen: Seen;
  readonly texts: readonly Place[];
  readonly isList: boolean;
  readonly payload: RequestPayload;
}

function readTexts(place: Place, rules: WireRules): ReadTexts {
  const input = place.at('input');
  if (input === undefined) throw invalidRequest('the body has no `input`', 'input');
  const isList = input.kind === 'array';
  const texts = isList ? input.items : [input];
  const stray = texts.findIndex(({ kind }) => kind !== 'string');
  if (stray !== -1) {
    const what = texts[stray]?.kind === 'object' ? 'object' : 'tokens';
    throw unknownInRequest(what, isList ? `input[${stray}]` : 'input');
  }
  const seen = new Seen(place);
  walk(bodySpot(place), requestShape, { rules, isAnswer: false, at: '' }, seen);
  const messages = isList ? seen.messages.map((each) => describe(each, 'user')) : [describe(seen, 'user')];
  const payload = {
    messages: messages.map(({ content }): ChatMessage => ({ role: 'user', content })),
    system_prompt: '',
    round: 1,
    tools: [],
    options: {},
    other: seen.other.json ?? new Json('{}'),
  };
  return { seen, texts, isList, payload };
}

/** Changed texts silently give different vectors, so changes need the config's permission. */
function writeTexts(
  changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
  { read, rules }: { readonly read: ReadTexts; readonly rules: WireRules },
  edits: Edits,
): boolean {
  const { payload, texts, seen } = read;
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
  seen.other.write(changed.other, edits, seen.place);
  return isChanged;
}

/** The one message has no text. `other` holds everything but vectors, IDs and counts. Throws RefusedCall (502). */
function readAnswer(body: string, rules: WireRules): WireAnswer {
  const place = openStrictly(body, (problem) => invalidAnswer(`its body ${problem}`));
  if (place.at('data') === undefined && place.at('error') !== undefined) return readOpenAiError(body);
  const { told, seen } = readVectors(place, rules);
  return {
    body,
    messages: [told],
    usage: readOpenAiUsage(place.at('usage')),
    toolCalls: [],
    write: (messages) => {
      const write = (changed: ChatMessage, edits: Edits) => {
        rewrite(seen, told, changed, edits, { isAnswer: true });
        return changed;
      };
      return writeMessages(body, [{ told, write }], messages, (written) => [
        readVectors(written, rules).told,
      ]);
    },
  };
}

function readVectors(place: Place, rules: WireRules) {
  const list = place.at('data');
  if (list?.kind !== 'array') throw invalidAnswer('it has no list of `data`');
  const stray = list.items.findIndex(({ kind }) => kind !== 'object');
  if (stray !== -1) throw invalidAnswer(`data[${stray}] is not an embedding`);
  const seen = new Seen(place);
  walk(bodySpot(place), answerShape, { rules, isAnswer: true, at: '' }, seen);
  const usage = readOpenAiUsage(place.at('usage'));
  const told: ChatMessage = { ...describe(seen, 'assistant'), ...costOf(usage) };
  return { told, seen };
}
