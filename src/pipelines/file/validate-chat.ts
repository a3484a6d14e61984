import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findSchemaFault } from '../../config/build/refused.ts';

/** What is wrong with the output schema and the choice of tools of the chat at `path`. */
export function findWrongChatOptions(document: YamlDocument, path: Path): readonly Finding[] {
  return [...findBadOutput(document, [...path, 'output', 'schema']), ...findBadChoice(document, path)];
}

function findBadOutput(document: YamlDocument, path: Path): readonly Finding[] {
  const fault = findSchemaFault(document, path);
  return fault === undefined ? [] : [{ path, message: `is no JSON Schema that can be used: ${fault}` }];
}

function findBadChoice(document: YamlDocument, chat: Path): readonly Finding[] {
  const path = [...chat, 'tool_choice'];
  const tools = itemsAt(document, [...chat, 'tools']).map((item) => textAt(document, item) ?? '');
  const name = textAt(document, [...path, 'tool']);
  if (tools.length === 0) {
    const isForced = name !== undefined || valueAt(document, path) === 'required';
    const message = 'needs `tools`: there is nothing that the model could call';
    return isForced ? [{ path, message, atKey: true }] : [];
  }
  if (name === undefined || name === '' || tools.includes(name)) return [];
  const message = `the chat has no tool named ${name}`;
  return [{ path: [...path, 'tool'], message, ...suggest(name, tools, 'tools') }];
}
