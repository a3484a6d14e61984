import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt, mappingAt } from '../../base/yaml/expressions.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { readChat } from '../../pipelines/file/schema.ts';
import type { Subject, Suite, Variant } from '../file/model.ts';
import { besideFile } from '../file/read-eval.ts';

export function readSubjects(document: YamlDocument, path: Path): Pick<Suite, 'subject' | 'variants'> {
  if (!isObject(valueAt(document, path))) return {};
  const list = itemsAt(document, [...path, 'variants']);
  if (list.length > 0) return { variants: list.map((item) => readListed(document, path, item)) };
  if (!isGrid(document, path)) return { subject: readSubject(document, path) };
  return { variants: readGrid(document, path) };
}

function readListed(document: YamlDocument, path: Path, item: Path): Variant {
  const cache = valueAt(document, [...path, 'cache']);
  const subject = readSubject(document, item);
  return {
    name: textAt(document, [...item, 'name']) ?? '',
    subject: typeof cache === 'boolean' ? { ...subject, cache } : subject,
  };
}

function isGrid(document: YamlDocument, path: Path): boolean {
  const chat = [...path, 'chat'];
  return [
    [...chat, 'provider'],
    [...chat, 'prompts'],
  ].some((place) => Array.isArray(valueAt(document, place)));
}

function readGrid(document: YamlDocument, path: Path): Variant[] {
  const chat = [...path, 'chat'];
  const subject = readSubject(document, path);
  if (subject.kind !== 'chat') return [];
  const prompts = itemsAt(document, [...chat, 'prompts']).map((item) => {
    const text = (key: string) => expressionAt(document, [...item, key], subjectVariables);
    return {
      prompt: textAt(document, [...item, 'name']),
      own: omitUndefined({ system: text('system'), messages: text('messages') }),
    };
  });
  const providers = providersAt(document, chat);
  return providers.flatMap((provider) =>
    (prompts.length === 0 ? [{ prompt: undefined, own: {} }] : prompts).map(({ prompt, own }) => ({
      name: nameOfPair({ provider, prompt }, providers.length),
      provider,
      ...omitUndefined({ prompt }),
      subject: { ...subject, chat: { ...subject.chat, ...own, provider } },
    })),
  );
}

export function providersAt(document: YamlDocument, chat: Path): string[] {
  const place = [...chat, 'provider'];
  const one = textAt(document, place);
  if (one !== undefined) return [one];
  return itemsAt(document, place).flatMap((item) => textAt(document, item) ?? []);
}

/** `small`, `terse`, or `small/terse` if there are several of both. */
export function nameOfPair(
  { provider, prompt }: { readonly provider: string; readonly prompt: string | undefined },
  providers: number,
): string {
  if (prompt === undefined) return provider;
  return providers > 1 ? `${provider}/${prompt}` : prompt;
}

export const subjectVariables: readonly string[] = ['case', 'epoch'];

export function readSubject(document: YamlDocument, path: Path): Subject {
  const at = (key: string): Path => [...path, key];
  const mapping = (key: string) => mappingAt(document, at(key), subjectVariables);
  const cache = valueAt(document, at('cache'));
  const caching = typeof cache === 'boolean' ? { cache } : {};
  const tool = textAt(document, at('tool'));
  if (tool !== undefined) return { kind: 'tool', tool, args: mapping('args'), ...caching };
  const file = textAt(document, at('pipeline'));
  if (file === undefined) {
    return { kind: 'chat', chat: readChat(document, at('chat'), subjectVariables), ...caching };
  }
  return { kind: 'pipeline', file: besideFile(document.file, file), input: mapping('input'), ...caching };
}
