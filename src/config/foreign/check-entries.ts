import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { entriesAt, itemsAt, textAt, valueAt } from '../../yaml/read.ts';
import type { DialectChecks } from '../foreign-checks.ts';
import { type Finding, locateFinding } from '../report.ts';
import { checkAgentaoEntry } from './check-agentao.ts';
import { checkClaudeEntry } from './check-claude.ts';
import { foreignAt } from './entries.ts';
import type { EntryCheckInput } from './entry-check.ts';

/** The problems of the foreign hooks of `spec.hooks` that no schema can find. */
export function checkForeignEntries(
  document: YamlDocument,
  surroundings: { readonly folder: string; readonly searchPath: string },
  checks: DialectChecks,
): Problem[] {
  return entriesAt(document, ['spec', 'hooks'])
    .flatMap(({ path }): Finding[] => {
      const check: EntryCheckInput = { document, path, ...surroundings, checks };
      const dialect = foreignAt(document, path);
      if (dialect === 'claude') return checkClaudeEntry(check);
      if (dialect === 'agentao') return checkAgentaoEntry(check);
      return dialect === 'picoclaw' ? checkPicoclawEntry(check) : [];
    })
    .map((each) => locateFinding(document, each));
}

function checkPicoclawEntry({ document, path }: EntryCheckInput): Finding[] {
  const at = (...keys: string[]): Path => [...path, ...keys];
  const lists = ['intercept', 'observe'].filter(
    (key) => valueAt(document, at('picoclaw', key)) !== undefined,
  );
  const isShort = valueAt(document, at('hook')) !== undefined;
  const twoForms = isShort ? lists[0] : undefined;
  const asksNothing = itemsAt(document, at('picoclaw', 'intercept')).every(
    (item) => valueAt(document, item) === '',
  );
  const isSilent = !isShort && asksNothing && itemsAt(document, at('picoclaw', 'observe')).length === 0;
  return [
    ...(twoForms === undefined
      ? []
      : [errorAt(at('hook'), `has no place beside picoclaw.${twoForms}`, 'Keep one of the two forms.')]),
    ...(isSilent ? [errorAt(path, 'needs picoclaw.intercept or picoclaw.observe', listHint)] : []),
    ...(!isShort && valueAt(document, at('phases')) !== undefined
      ? [errorAt(at('phases'), 'needs `hook`', 'Name the methods in `picoclaw.intercept` instead.')]
      : []),
    ...(textAt(document, at('cwd')) !== undefined && textAt(document, at('picoclaw', 'dir')) !== undefined
      ? [errorAt(at('cwd'), 'has no place beside picoclaw.dir', 'Keep one of the two.')]
      : []),
  ];
}

const listHint =
  'intercept takes before_llm, after_llm, before_tool, after_tool and approve_tool; observe kinds of events.';

function errorAt(path: Path, message: string, hint: string): Finding {
  return { severity: 'error', path, message, hint };
}
