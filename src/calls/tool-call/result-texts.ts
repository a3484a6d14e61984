import type { ErrorObject } from 'ajv';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { isJson } from '../../base/json/parse.ts';
import { writeText } from '../../base/text/encoding/codec.ts';
import { detectText, readText } from '../../base/text/encoding/decode.ts';
import { readTextType } from '../../base/text/encoding/media-type.ts';
import type { SchemaCheck } from '../../base/yaml/schema-check.ts';
import { validatorOf } from '../../base/yaml/validator.ts';
import { answers, type Decision, type ToolHookRequest, type ToolHookResponse } from '../../contract/hook.ts';
import { failed, ok, type ToolFailed, type ToolOk } from '../../contract/tool.ts';
import { mergeMetadata } from '../../dialects/metadata.ts';
import { type GateOptions, type Link, passGate } from '../hooks/gate.ts';
import { allowed, decisionOf } from '../hooks/hook-chain.ts';

const text = { type: 'string' };
/** Hooks do not see it, so it has no room for a text. */
const mimeType = {
  type: 'string',
  maxLength: 127,
  pattern: '^[\\w.+-]+/[\\w.+-]+(?:\\s*;\\s*[\\w-]+=[\\w.+-]+)*$',
};
const base64 = { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' };
/** URL parsers ignore the control characters that could hide the scheme. */
const uri = { type: 'string', pattern: '^(?!\\s*[dD][aA][tT][aA]:)[^\\x00-\\x1f\\x7f]*$' };

const annotations = {
  type: 'object',
  additionalProperties: false,
  properties: {
    audience: { type: 'array', items: { enum: ['user', 'assistant'] } },
    priority: { type: 'number', minimum: 0, maximum: 1 },
    lastModified: {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
    },
  },
};

const bytesBlock = { required: ['data', 'mimeType'], properties: { data: base64 } };
const icons = { type: 'array', items: { type: 'object', properties: { src: uri } } };

const blockKinds = {
  text: { required: ['text'], properties: { text } },
  image: bytesBlock,
  audio: bytesBlock,
  resource: {
    required: ['resource'],
    properties: {
      resource: {
        type: 'object',
        required: ['uri'],
        properties: { uri, mimeType, text, blob: base64 },
        oneOf: [{ required: ['text'] }, { required: ['blob'] }],
      },
    },
  },
  resource_link: { required: ['uri', 'name'], properties: { uri, name: text, icons } },
};

/**
 * A tool result of MCP 2026-07-28. Hooks see every member but `type`, `mimeType`, `annotations`, `isError` and bytes
 * that are not text, which therefore have room for nothing else.
 */
export const contentResultSchema = {
  type: 'object',
  if: { required: ['resultType'], properties: { resultType: { const: 'input_required' } } },
  else: { required: ['content'] },
  properties: {
    isError: { type: 'boolean' },
    content: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: Object.keys(blockKinds) }, annotations, mimeType },
        allOf: Object.entries(blockKinds).map(([kind, block]) => ({
          if: { required: ['type'], properties: { type: { const: kind } } },
          // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
          then: block,
        })),
      },
    },
  },
};

/** The text of a result that hooks see, and how it is written back. */
interface ResultText {
  readonly text: string;
  /** What is wrong with a changed text; undefined if it fits. */
  readonly check?: (changed: string) => string | undefined;
  readonly put: (changed: string) => void;
}

type Members = Record<string, unknown>;

interface Block extends Members {
  readonly type: keyof typeof blockKinds;
}

type Tree = Members & { content?: Block[] };

/** A tool result in the form of MCP, whose texts can be replaced. */
export class ContentResult {
  #json: Json;
  readonly #tree: Tree;
  readonly isError: boolean;

  /** `result` must have no faults. */
  constructor(result: Json) {
    this.#json = result;
    this.#tree = parseLossless(result.text) as Tree;
    this.isError = this.#tree['isError'] === true;
  }

  /** Whether the tool asks for input before it gives a result. Its questions are shown as JSON. */
  get isIncomplete(): boolean {
    return this.#tree['resultType'] === 'input_required';
  }

  /** The original text of the result if nothing was replaced. */
  get json(): Json {
    return this.#json;
  }

  get structured(): Json | undefined {
    const { structuredContent } = this.#tree;
    return structuredContent === undefined ? undefined : Json.from(structuredContent);
  }

  /** What a model reads: the texts of blocks and resources, and links. Without any, the structured content. */
  get modelText(): string {
    const texts = (this.#tree.content ?? []).flatMap((block) => {
      const { text: own } = holderOf(block);
      if (typeof own === 'string') return [own];
      return block.type === 'resource_link' ? [stringifyJson(restOf(block, ownKeys))] : [];
    });
    return texts.length === 0 ? (this.structured?.text ?? '') : texts.join('\n');
  }

  /** All texts in the order of the result, at least one. Throws RESULT_INVALID for bytes whose text cannot be read. */
  texts(fitsStructured: SchemaCheck): readonly ResultText[] {
    const tree = this.#tree;
    const found = (tree.content ?? []).flatMap(textsOfBlock);
    if (tree['structuredContent'] !== undefined) {
      const put = (changed: unknown) => {
        tree['structuredContent'] = changed;
      };
      found.push(jsonText(tree['structuredContent'], put, this.isError ? () => [] : fitsStructured));
    }
    found.push(...restTexts(tree, new Set(['content', 'structuredContent', 'isError'])));
    if (found.length > 0) return found;
    return [
      {
        text: '',
        put: (added) => {
          tree.content = [...(tree.content ?? []), { type: 'text', text: added }];
        },
      },
    ];
  }

  /** Writes replaced texts into `json`. Returns what is wrong with the result; empty if it is still one. */
  rewrite(): readonly string[] {
    this.#json = Json.from(this.#tree);
    return findContentFaults(this.#json);
  }

  toOutcome(): ToolOk | ToolFailed {
    const shown = this.modelText;
    if (!this.isError) return { ...ok(this.#json), text: shown };
    const message = shown === '' ? 'the tool reported an error without a text' : shown;
    return { ...failed(toFault(new RuntimeError('TOOL_ERROR', message))), result: this.#json };
  }
}

/** What keeps a value from being a tool result of MCP, with paths; empty if it is one. */
export function findContentFaults(result: Json): readonly string[] {
  const duplicate = findDuplicateKey(result.text);
  if (duplicate !== undefined) return [`duplicate key "${duplicate}"`];
  const validate = validatorOf(contentResultSchema);
  if (validate(result.value)) return [];
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const shown = errors.slice(0, MAX_FAULTS).map(describeFault);
  return errors.length > MAX_FAULTS ? [...shown, `and ${errors.length - MAX_FAULTS} more`] : shown;
}

const MAX_FAULTS = 20;

function describeFault({ instancePath, keyword, message, params }: ErrorObject): string {
  const where = instancePath === '' ? 'it' : instancePath.slice(1).replaceAll('/', '.');
  const allowedValues = keyword === 'enum' ? ` (${params['allowedValues'].join(', ')})` : '';
  return `${where} ${message ?? keyword}${allowedValues}`;
}

/** Members of a block that are not in its remaining text. */
const ownKeys: ReadonlySet<string> = new Set(['type', 'annotations', 'mimeType']);

function holderOf(block: Block): Members {
  return block.type === 'resource' ? (block['resource'] as Members) : block;
}

function textsOfBlock(block: Block): ResultText[] {
  const { type } = block;
  const holder = holderOf(block);
  const key = type === 'image' || type === 'audio' ? 'data' : 'blob' in holder ? 'blob' : 'text';
  const own = type === 'resource_link' ? [] : [textAt(holder, key)].filter((each) => each !== undefined);
  if (holder === block)
    return [...own, ...restTexts(block, type === 'resource_link' ? ownKeys : new Set([...ownKeys, key]))];
  return [
    ...own,
    ...restTexts(holder, new Set(['mimeType', key])),
    ...restTexts(block, new Set([...ownKeys, 'resource'])),
  ];
}

function textAt(holder: Members, key: 'text' | 'data' | 'blob'): ResultText | undefined {
  const value = String(holder[key]);
  if (key === 'text')
    return {
      text: value,
      put: (changed) => {
        holder[key] = changed;
      },
    };
  const bytes = Buffer.from(value, 'base64');
  const { isText, charset } = readTextType(String(holder['mimeType'] ?? ''));
  // Bytes that are text are shown under any type, so that a wrong one hides nothing.
  const read = isText === 'yes' ? readText(bytes, charset) : detectText(bytes);
  if (read === undefined) {
    if (isText !== 'yes') return undefined;
    const message = `\`${key}\` of type ${holder['mimeType']} is a text that no hook can read`;
    throw new RuntimeError('RESULT_INVALID', message);
  }
  const encode = (changed: string) => writeText(changed, read.encoding)?.toString('base64');
  return {
    text: read.text,
    check: (changed) =>
      encode(changed) === undefined
        ? `its \`content\` has characters that ${read.encoding.name} does not have`
        : undefined,
    put: (changed) => {
      holder[key] = encode(changed);
    },
  };
}

/** All members that are not shown otherwise, as one JSON text. */
function restTexts(holder: Members, shown: ReadonlySet<string>): ResultText[] {
  const rest = restOf(holder, shown);
  if (Object.keys(rest).length === 0) return [];
  const put = (changed: unknown) => {
    const members = isObject(changed) ? changed : {};
    for (const key of Object.keys(rest)) if (!Object.hasOwn(members, key)) delete holder[key];
    Object.assign(holder, members);
  };
  return [jsonText(rest, put, () => [])];
}

function restOf(holder: Members, shown: ReadonlySet<string>): Members {
  return Object.fromEntries(Object.entries(holder).filter(([key]) => !shown.has(key)));
}

function jsonText(value: unknown, put: (changed: unknown) => void, fits: SchemaCheck): ResultText {
  return {
    text: stringifyJson(value),
    check: (changed) => {
      if (!isJson(changed)) return 'its `content` replaces JSON and is not JSON';
      if (isTextTooDeep(changed)) return `its \`content\` is nested more than ${MAX_JSON_DEPTH} levels deep`;
      const duplicate = findDuplicateKey(changed);
      if (duplicate !== undefined) return `its \`content\` has the duplicate key "${duplicate}"`;
      const misfits = fits(new Json(changed.trim()));
      return misfits.length === 0
        ? undefined
        : `its \`content\` does not fit output_schema: ${misfits.join('; ')}`;
    },
    put: (changed) => put(parseLossless(changed)),
  };
}

interface TextEvent {
  readonly text: string;
  /** The text of a failure; empty on success. */
  readonly error: string;
  readonly latencyMs: number;
  /** The result of a successful call. */
  readonly result?: Json | undefined;
  readonly check?: ResultText['check'] | undefined;
}

/** Passes one text of a result through the after_execution hooks. Returns it as they left it. */
export async function passText(
  links: readonly Link[],
  request: ToolHookRequest,
  { text: content, error, latencyMs, result, check }: TextEvent,
  options: GateOptions,
): Promise<{ readonly decision: Decision; readonly text: string }> {
  const { name, call_id } = request;
  const response: ToolHookResponse = {
    ...{ name, call_id, content, error, latency_ms: latencyMs },
    ...(result && { result }),
  };
  const { decision, event } = await passGate(
    links,
    { hook: 'tool', phase: 'after_execution', request, response },
    {
      ...options,
      ...(check && {
        check: (changed) =>
          changed.phase === 'after_execution' ? check(changed.response.content) : undefined,
      }),
    },
  );
  return { decision, text: event.phase === 'after_execution' ? event.response.content : content };
}

interface ContentCall {
  readonly links: readonly Link[];
  readonly request: ToolHookRequest;
  readonly latencyMs: number;
  /** Checks structured content that a hook changed. */
  readonly fitsStructured: SchemaCheck;
  readonly options: GateOptions;
}

/**
 * Passes a result text by text through the after_execution hooks, and writes replaced texts into it. One denial
 * withholds the whole result. Throws RESULT_INVALID for a text that cannot be shown.
 */
export async function passContent(
  content: ContentResult,
  { links, request, latencyMs, fitsStructured, options }: ContentCall,
): Promise<Decision> {
  const texts = content.texts(fitsStructured);
  const decisions: Decision[] = [];
  let next = 0;
  const work = async () => {
    for (let shown = texts[next]; shown !== undefined; shown = texts[next]) {
      const at = next++;
      const { text: given, check, put } = shown;
      const error = content.isError ? given : '';
      const result = content.isError ? undefined : Json.from(given);
      const passed = await passText(
        links,
        request,
        { text: given, error, latencyMs, result, check },
        options,
      );
      decisions[at] = passed.decision;
      if (!isPassed(passed.decision)) next = texts.length;
      else if (passed.text !== given) put(passed.text);
    }
  };
  // Hooks of other systems see one text after the other.
  const width = links.some((link) => 'group' in link) ? 1 : WIDTH;
  await Promise.all(Array.from({ length: width }, work));
  const made = decisions.filter((decision) => decision !== undefined);
  const denial = made.find((decision) => !isPassed(decision));
  if (denial !== undefined) return denial;
  const decider = made.findLast(isModify) ?? made.findLast(({ hook }) => hook !== null);
  const decision: Decision = {
    ...(decider ?? made.at(-1) ?? allowed),
    replace: null,
    context: [...new Set(made.flatMap(({ context }) => context))],
    // What a hook says of a text that it changed counts over what it says of others.
    metadata: mergeMetadata([...made, ...made.filter(isModify)].map(({ metadata }) => metadata)),
  };
  if (decision.verdict !== 'modify') return decision;
  const faults = content.rewrite();
  if (faults.length === 0) return decision;
  const reason = `the replaced result is not a tool result of MCP: ${faults.join('; ')}`;
  return decisionOf(decision, answers.deny(reason));
}

/** How many texts of one result hooks see at once. */
const WIDTH = 8;

function isPassed({ verdict }: Decision): boolean {
  return verdict === 'allow' || verdict === 'modify';
}

function isModify({ verdict }: Decision): boolean {
  return verdict === 'modify';
}
