import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import { entriesAt, itemsAt, textAt, valueAt } from '../../yaml/read.ts';
import type { ForeignChecks } from '../foreign-checks.ts';
import { type Report, report } from '../report.ts';
import { checkAgentaoEntry } from './check-agentao.ts';
import { checkClaudeEntry } from './check-claude.ts';
import { foreignAt } from './entries.ts';
import type { EntryCheck } from './entry-check.ts';

/** What no schema can see of the foreign hooks of `spec.hooks`. */
export function checkForeignEntries(
  document: YamlDocument,
  surroundings: { readonly folder: string; readonly searchPath: string },
  checks: ForeignChecks,
): Problem[] {
  return entriesAt(document, ['spec', 'hooks'])
    .flatMap(({ path }): Report[] => {
      const check: EntryCheck = { document, path, ...surroundings, checks };
      const dialect = foreignAt(document, path);
      if (dialect === 'claude') return checkClaudeEntry(check);
      if (dialect === 'agentao') return checkAgentaoEntry(check);
      return dialect === 'picoclaw' ? checkPicoclawEntry(check) : [];
    })
    .map((each) => report(document, each));
}

function checkPicoclawEntry({ document, path }: EntryCheck): Report[] {
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
      : [error(at('hook'), `has no place beside picoclaw.${twoForms}`, 'Keep one of the two forms.')]),
    ...(isSilent ? [error(path, 'needs picoclaw.intercept or picoclaw.observe', listHint)] : []),
    ...(!isShort && valueAt(document, at('phases')) !== undefined
      ? [error(at('phases'), 'needs `hook`', 'Name the methods in `picoclaw.intercept` instead.')]
      : []),
    ...(textAt(document, at('cwd')) !== undefined && textAt(document, at('picoclaw', 'dir')) !== undefined
      ? [error(at('cwd'), 'has no place beside picoclaw.dir', 'Keep one of the two.')]
      : []),
  ];
}

const listHint =
  'intercept takes before_llm, after_llm, before_tool, after_tool and approve_tool; observe kinds of events.';

function error(path: Path, message: string, hint: string): Report {
  return { severity: 'error', path, message, hint };
}
