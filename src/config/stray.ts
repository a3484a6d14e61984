import { takesInlineCode } from '../base/files/script.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { findExpressionIn, textsAt } from '../base/yaml/expressions.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { isAt, itemsAt, textAt } from '../base/yaml/read.ts';
import { foreignAt } from './build/foreign-entries.ts';
import { type ExecEntry, execEntries } from './references.ts';

/**
 * A report for each value of a RuntimeConfig with `${…}` where no variable is expanded. In arguments, which
 * may be code of another language, it is always a warning. `document` is as the file has it; `strip` takes out of a text what is
 * filled in.
 */
export function findUnfilledVariables(
  document: YamlDocument,
  unusable: 'error' | 'warning',
  strip: (text: string) => string = (text) => text,
): Finding[] {
  const owned = execEntries(document).flatMap((entry) => textsOfEntry(document, entry));
  const others = ['providers', 'imports'].flatMap((key) => itemsAt(document, ['spec', key]));
  const declared = [...others, ['spec', 'state_store']].flatMap((path) =>
    textsAt(document, path, [[...path, 'additional_config']]),
  );
  return [...owned, ...declared].flatMap(({ path, text }): Finding[] => {
    const expression = findExpressionIn(strip(text));
    if (expression === undefined) return [];
    const isArgument = isAt(path, 'spec.tools.*.exec.args.*', 'spec.evals.*.args.*', 'spec.hooks.*.args.*');
    const message = `\`${expression}\` is not filled in here; it is taken as it stands`;
    return [{ severity: isArgument ? 'warning' : unusable, path, message, hint: hintAt(path) }];
  });
}

/**
 * The texts of an entry that Signalbox interprets; commands and arguments of foreign hooks are not among
 * them.
 */
function textsOfEntry(document: YamlDocument, { path }: ExecEntry): ReturnType<typeof textsAt> {
  const variables = textsAt(document, [...path, 'env']);
  if (foreignAt(document, path) !== undefined) return variables;
  const args = itemsAt(document, [...path, 'args']);
  const isCode = takesInlineCode(
    textAt(document, [...path, 'command']) ?? '',
    args.map((item) => textAt(document, item) ?? ''),
  );
  const keys = ['command', 'cwd', ...(isCode ? [] : ['args'])];
  return [...variables, ...keys.flatMap((key) => textsAt(document, [...path, key]))];
}

function hintAt(path: Path): string {
  const key = path.at(-2) === 'env' || path.at(-2) === 'args' ? path.at(-2) : path.at(-1);
  switch (key) {
    case 'env':
      return 'Name the variable alone, as in `env: [HOME_PAGE]`: its value is passed on.';
    case 'args':
      return 'Pass the variable on with `env: [NAME]`, and read it in the program.';
    case 'api_key':
      return 'Write `credential: {credential_env: NAME}`.';
    case 'command':
    case 'cwd':
      return 'Write the path itself; a relative one starts at the config file’s folder.';
    default:
      return 'Write the value itself.';
  }
}
