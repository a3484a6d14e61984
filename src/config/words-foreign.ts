import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { isAt, textAt } from '../base/yaml/read.ts';
import type { Violation } from '../base/yaml/violation.ts';
import { foreignDialects, foreignNames } from '../dialects/registry.ts';
import { foreignAt } from './build/foreign-entries.ts';

/**
 * The message and hint for a violation in a foreign hook or an import; undefined for any other. PromptKit has
 * neither, so these violations are errors whatever the apiVersion says.
 */
export function wordForeign(
  document: YamlDocument,
  violation: Violation,
): { message?: string; hint?: string } | undefined {
  const { path } = violation;
  if (path[0] !== 'spec') return undefined;
  if (path[1] === 'imports') return wordImport(document, violation);
  if (path[1] === 'defaults' && path[2] === 'on_failure') return {};
  if (path[1] === 'tools')
    return isAt(path, 'spec.tools.*.category', 'spec.tools.*.aliases.*') ? {} : undefined;
  if (path[1] !== 'hooks') return undefined;
  return wordHook(document, violation);
}

/** The message and hint that replace those of a violation. */
interface Words {
  readonly message?: string;
  readonly hint?: string;
}

function wordImport(document: YamlDocument, { path, keyword }: Violation): Words {
  if (keyword !== 'false schema') return {};
  const key = String(path[3]);
  if (key !== 'file') {
    const owner = foreignNames.find((name) => key in (foreignDialects[name].entry.importProperties ?? {}));
    return { message: `needs \`dialect: ${owner}\`` };
  }
  const dialect = foreignAt(document, path.slice(0, 3));
  const folderKey = dialect && foreignDialects[dialect].plugins?.folderKey;
  return {
    message: `has no place beside \`dialect: ${dialect}\``,
    hint: `Name the folder of the plugins in \`${folderKey}\`.`,
  };
}

function wordHook(document: YamlDocument, violation: Violation): Words | undefined {
  const { path, keyword } = violation;
  const dialect = foreignAt(document, path.slice(0, 3));
  const key = String(path[3]);
  const isBlock = foreignNames.some(
    (name) => name === key && foreignDialects[name].entry.block !== undefined,
  );
  const isForbidden = path.length === 4 && keyword === 'false schema';
  if (isForbidden && isBlock) return { message: `needs \`dialect: ${key}\`` };
  if (dialect === undefined) return isBlock ? {} : undefined;
  const { misplacedHints, runtimeHint, valueMessages = {} } = foreignDialects[dialect].entry;
  const hint = misplacedHints[key];
  if (isForbidden && hint !== undefined)
    return { message: `has no place beside \`dialect: ${dialect}\``, hint };
  if (isAt(path, 'spec.hooks.*.runtime')) return { hint: runtimeHint };
  if (violation.kind === 'missing' && path.length === 4 && isBlock)
    return { hint: `Name the event: ${key}: {event: PreToolUse}.` };
  const worded = wordValue(document, path, valueMessages);
  if (worded !== undefined) return worded;
  // PromptKit’s loader passes over keys that it does not know.
  return violation.kind === 'key' && path.length === 4 ? undefined : {};
}

/** The dialect’s own message for a value that is not allowed: long lists of names are left out of it. */
function wordValue(
  document: YamlDocument,
  path: Path,
  messages: Readonly<Record<string, (value: string) => string | undefined>>,
): Words | undefined {
  const found = Object.entries(messages).find(([at]) => isAt(path, `spec.hooks.*.${at}`));
  const message = found?.[1](textAt(document, path) ?? '');
  return message === undefined ? undefined : { message };
}
