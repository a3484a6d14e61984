import type { Source } from '../../../yaml/source.ts';
import type { Templates } from '../nunjucks/templates.ts';
import type { Mapping } from './variables.ts';

/** The variables with their templates filled in; they may name one another. */
export function fillVariables(vars: Mapping, test: Source, nunjucks: Templates): Mapping {
  const known = resolveNames(vars);
  const entries = Object.entries(known).map(([name, value]) => {
    const filled = nunjucks.fill(value, known);
    if ('value' in filled) return [name, filled.value] as const;
    test.note('error', `the template of the variable \`${name}\` ${filled.fault}, and stays as it is`);
    return [name, value] as const;
  });
  // Nunjucks writes nothing for what is null.
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

/** Variables in variables, as promptfoo fills them in: up to five deep. */
function resolveNames(vars: Mapping): Mapping {
  let known = vars;
  for (let depth = 0; depth < 5; depth += 1) {
    const before = known;
    let isDone = true;
    const entries = Object.entries(before).map(([name, value]) => {
      if (typeof value !== 'string' || !value.includes('{{')) return [name, value] as const;
      const made = value.replace(/\{\{\s{0,99}(\w{1,99})\s{0,99}\}\}/, (whole, other: string) => {
        const given = Object.hasOwn(before, other) ? before[other] : undefined;
        return typeof given === 'string' && other !== name ? given : whole;
      });
      if (made !== value) isDone = false;
      return [name, made] as const;
    });
    known = Object.fromEntries(entries);
    if (isDone) break;
  }
  return known;
}
