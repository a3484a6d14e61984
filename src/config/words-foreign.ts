import type { YamlDocument } from '../yaml/document.ts';
import { isAt, textAt } from '../yaml/read.ts';
import type { Violation } from '../yaml/violation.ts';
import { foreignAt } from './foreign/entries.ts';
import { describeRefusedType } from './import/refused-type.ts';

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
  if (path[1] === 'imports') return wordImport(violation);
  if (path[1] === 'defaults' && path[2] === 'on_failure') return {};
  if (path[1] === 'tools')
    return isAt(path, 'spec.tools.*.category', 'spec.tools.*.aliases.*') ? {} : undefined;
  if (path[1] !== 'hooks') return undefined;
  return wordHook(document, violation);
}

function wordImport({ path, keyword }: Violation): { message?: string; hint?: string } {
  if (keyword !== 'false schema') return {};
  if (isAt(path, 'spec.imports.*.picoclaw')) return { message: 'needs `dialect: picoclaw`' };
  if (isAt(path, 'spec.imports.*.file')) {
    return {
      message: 'has no place beside `dialect: chibi`',
      hint: 'Name the folder of the plugins in `plugins_dir`.',
    };
  }
  return { message: 'needs `dialect: chibi`' };
}

function wordHook(
  document: YamlDocument,
  violation: Violation,
): { message?: string; hint?: string } | undefined {
  const { path, keyword } = violation;
  const dialect = foreignAt(document, path.slice(0, 3));
  const key = String(path[3]);
  if (path.length === 4 && blockKeys.has(key) && keyword === 'false schema') {
    return { message: `needs \`dialect: ${key}\`` };
  }
  if (dialect === undefined) return blockKeys.has(key) ? {} : undefined;
  if (path.length === 4 && keyword === 'false schema' && key in misplacedKeyHints[dialect]) {
    return {
      message: `has no place beside \`dialect: ${dialect}\``,
      hint: misplacedKeyHints[dialect][key] ?? '',
    };
  }
  if (isAt(path, 'spec.hooks.*.runtime')) return { hint: runtimeHints[dialect] };
  if (isAt(path, 'spec.hooks.*.claude.type')) {
    const refused = describeRefusedType(textAt(document, path) ?? '');
    return refused === undefined ? {} : { message: refused };
  }
  if (violation.kind === 'missing' && path.length === 4 && blockKeys.has(key)) {
    return { hint: `Name the event: ${key}: {event: PreToolUse}.` };
  }
  if (keyword === 'enum') return wordName(document, violation);
  // PromptKit’s loader passes over keys that it does not know.
  return violation.kind === 'key' && path.length === 4 ? undefined : {};
}

const blockKeys: ReadonlySet<string> = new Set(['picoclaw', 'claude', 'agentao']);

const eventHint = (name: string, what: string) => `\`${name}.event\` says when ${what} runs.`;
const eventKeyHints = (name: string, what: string): Record<string, string> => ({
  hook: eventHint(name, what),
  phases: eventHint(name, what),
  mode: eventHint(name, what),
});

const misplacedKeyHints: Readonly<
  Record<'picoclaw' | 'chibi' | 'claude' | 'agentao', Readonly<Record<string, string>>>
> = {
  picoclaw: { mode: '`picoclaw.intercept` and `picoclaw.observe` say what it is asked and told.' },
  chibi: {
    hook: 'The plugin’s own --schema says at which points it runs.',
    phases: 'The plugin’s own --schema says at which points it runs.',
    mode: 'The plugin’s own --schema says at which points it runs.',
  },
  claude: eventKeyHints('claude', 'the handler'),
  agentao: {
    ...eventKeyHints('agentao', 'the rule'),
    args: '`command` is a shell line: write them into it.',
  },
};

const runtimeHints = {
  picoclaw: 'A PicoClaw process always stays; leave `runtime` out.',
  chibi: 'A chibi plugin is started anew for each call; leave `runtime` out.',
  claude: 'A Claude Code handler is started anew for each event; leave `runtime` out.',
  agentao: 'An Agentao rule is started anew for each event; leave `runtime` out.',
};

/** Long lists of names are left out of the message: the hint has the one that was meant. */
function wordName(document: YamlDocument, { path }: Violation): { message?: string } {
  const got = textAt(document, path) ?? '';
  if (isAt(path, 'spec.hooks.*.claude.event')) return { message: `is no event of Claude Code (got: ${got})` };
  if (isAt(path, 'spec.hooks.*.picoclaw.observe.*')) {
    return { message: `is no kind of event of PicoClaw (got: ${got})` };
  }
  return {};
}
