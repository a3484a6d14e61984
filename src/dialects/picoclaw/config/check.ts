import type { Path } from '../../../yaml/document.ts';
import type { Finding } from '../../../yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../../yaml/read.ts';
import type { EntryCheckInput } from '../../dialect-config.ts';

/** Checks a PicoClaw process beyond the schema: its two forms, and whether it is asked anything. */
export function checkEntry({ document, path }: EntryCheckInput): Finding[] {
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
