import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path } from '../../base/yaml/document.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import type { HookDraft, HookEvents, ImportContext, KeyUses } from '../../dialects/foreign-files.ts';
import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import type { ForeignName } from '../config.ts';

interface EventForm extends HookEvents {
  readonly dialect: ForeignName;
}

/** Dialects whose entries may occur in the same file. */
export const eventForms: readonly EventForm[] = foreignNames.flatMap((dialect) => {
  const events = foreignDialects[dialect].files?.events;
  return events === undefined ? [] : [{ ...events, dialect }];
});

/** The form of all entries of a file; undefined if each may have its own. */
export function formOf(dialect: ForeignName | undefined): EventForm | undefined {
  return eventForms.find((form) => form.dialect === dialect);
}

/** Whether any dialect with hooks under events has an event of that name. */
export function isEventName(name: string): boolean {
  return eventForms.some(({ names }) => names.includes(name));
}

export function keyUsesOf(kind: 'fileKeys' | 'manifestKeys', form: EventForm | undefined): KeyUses {
  return Object.assign(
    {},
    ...(form === undefined ? eventForms : [form]).map((each) => each[kind]).toReversed(),
  );
}

/** Every hook under the events at `path`, in file order. */
export function readEvents(context: ImportContext, path: Path, form: EventForm | undefined): HookDraft[] {
  const { document, addFinding } = context;
  if (!isObject(valueAt(document, path))) {
    addFinding({ severity: 'error', path, message: 'hooks must be a JSON object' });
    return [];
  }
  const known = form?.names ?? [...new Set(eventForms.flatMap(({ names }) => names))];
  // A file without the key `hooks` may have other keys beside the events.
  const uses = path.length === 0 ? keyUsesOf('fileKeys', form) : {};
  const events = document.keysOf(path).filter((key) => !Object.hasOwn(uses, key));
  return events.flatMap((event) => {
    const at = [...path, event];
    if (!known.includes(event)) {
      const message = form?.unknownEvent?.(event) ?? `Unsupported hook event '${event}' — skipped`;
      addFinding({ severity: 'warning', path: at, atKey: true, message, ...suggest(event, known) });
      return [];
    }
    const items = Array.isArray(valueAt(document, at)) ? itemsAt(document, at) : [at];
    return items.flatMap((item) => readEntry(context, event, item, form));
  });
}

function readEntry(
  context: ImportContext,
  event: string,
  path: Path,
  form: EventForm | undefined,
): HookDraft[] {
  const entry = valueAt(context.document, path);
  const own = eventForms.find(({ isOwn }) => isOwn(entry));
  if (own === undefined && form?.reportUnknownForm !== undefined) {
    form.reportUnknownForm(context, event, path);
    return [];
  }
  if (own === undefined || (form !== undefined && form !== own)) {
    const fault = own === undefined ? unknownForm : wrongDialect(own, form);
    context.addFinding({ severity: 'error', path, ...fault });
    return [];
  }
  return own.read(context, event, path);
}

const examples = eventForms.map(({ example }) => example).join(', ');

const unknownForm = {
  message: `is neither ${eventForms.map(({ entry }) => entry).join(' nor ')}`,
  hint: `${examples.charAt(0).toUpperCase()}${examples.slice(1)}.`,
};

function wrongDialect({ entry }: EventForm, form: EventForm | undefined): { message: string; hint: string } {
  return {
    message: `is ${entry}, but the import says dialect: ${form?.dialect}`,
    hint: 'Remove `dialect` from the import, so that each entry goes to the system whose form it has.',
  };
}
