import { isObject } from '../../../base/json/json.ts';
import { make } from '../../../base/page/dom.ts';
import { toPrettyJson } from '../../../base/page/text.ts';
import { parseExact } from '../api.ts';

/** `problem`: why the text is no value, for a person. */
export type Read = { readonly value: unknown } | { readonly problem: string };

interface Options {
  readonly id: string;
  readonly label: string;
  readonly schema: unknown;
  /** JSON text, as typed before. */
  readonly text: string;
  /** Text that is not JSON is a string. */
  readonly takesText?: boolean;
  readonly onInput: (text: string, read: Read) => void;
}

/** A form if the schema has only simple members, else a field for JSON; the person can change between them. */
export function makeEditor({ id, label, schema, text, takesText = false, onInput }: Options) {
  const element = make('div', { class: 'editor' });
  let current = text;
  const readText = (): Read => {
    try {
      return { value: parseExact(current) };
    } catch (error) {
      if (takesText && current.trim() !== '') return { value: current };
      return { problem: `This is not JSON: ${error instanceof Error ? error.message : ''}` };
    }
  };
  const update = (changed: string) => {
    current = changed;
    onInput(current, readText());
  };
  const showText = () => {
    const field = make('textarea', {
      id,
      rows: Math.min(24, current.split('\n').length + 1),
      spellcheck: 'false',
      class: 'json',
    });
    field.value = current;
    field.addEventListener('input', () => update(field.value));
    return [make('label', { for: id }, label), field];
  };
  const show = (asForm: boolean) => {
    const read = readText();
    const form =
      asForm && 'value' in read
        ? makeForm(id, schema, read.value, (value) => update(toPrettyJson(value)))
        : undefined;
    const other = 'value' in read && fieldsOf(schema, read.value) !== undefined;
    const change = make('button', { type: 'button', class: 'link', click: () => show(form === undefined) });
    change.textContent = form === undefined ? 'Edit in a form' : 'Edit as JSON';
    element.replaceChildren(...(form ?? showText()), ...(form !== undefined || other ? [change] : []));
    element.querySelector<HTMLElement>('input, select, textarea')?.focus();
  };
  show(true);
  onInput(current, readText());
  return element;
}

interface Field {
  readonly name: string;
  readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'enum';
  readonly choices: readonly unknown[];
  readonly about: string;
  readonly isRequired: boolean;
}

/** Undefined if the schema or the value is not an object of simple members that the schema declares. */
function fieldsOf(schema: unknown, value: unknown): readonly Field[] | undefined {
  if (!isObject(schema) || !isObject(schema['properties']) || !isObject(value) || JSON.isRawJSON(value))
    return undefined;
  const { properties, required } = schema;
  if (Object.keys(value).some((name) => !Object.hasOwn(properties, name))) return undefined;
  const fields = Object.entries(properties).map(([name, member]): Field | undefined => {
    if (!isObject(member)) return undefined;
    const { type, enum: choices, description } = member;
    const common = {
      ...{ name, choices: type === 'boolean' ? [true, false] : Array.isArray(choices) ? choices : [] },
      ...{ about: typeof description === 'string' ? description : '' },
      isRequired: Array.isArray(required) && required.includes(name),
    };
    if (common.choices.some((choice) => isObject(choice) || Array.isArray(choice))) return undefined;
    const given = value[name];
    if (common.choices.length > 0) {
      const isKnown = given === undefined || common.choices.includes(given);
      return isKnown ? { ...common, kind: 'enum' } : undefined;
    }
    const isNumber = typeof given === 'number' || JSON.isRawJSON(given);
    if (type === 'string' && (given === undefined || typeof given === 'string'))
      return { ...common, kind: type };
    if ((type === 'number' || type === 'integer') && (given === undefined || isNumber))
      return { ...common, kind: type };
    return undefined;
  });
  return fields.every((field) => field !== undefined) && fields.length > 0 ? fields : undefined;
}

function makeForm(
  id: string,
  schema: unknown,
  given: unknown,
  onChange: (value: unknown) => void,
): Node[] | undefined {
  const fields = fieldsOf(schema, given);
  if (fields === undefined || !isObject(given)) return undefined;
  const value: Record<string, unknown> = { ...given };
  const set = (name: string, member: unknown) => {
    if (member === undefined) delete value[name];
    else value[name] = member;
    onChange(value);
  };
  return fields.map(({ name, kind, choices, about, isRequired }, index) => {
    const place = `${id}-${index}`;
    const own = value[name];
    const attributes = {
      id: place,
      'aria-describedby': about !== '' && `${place}-about`,
      required: isRequired,
    };
    const input =
      kind === 'enum'
        ? make('select', attributes)
        : kind === 'string'
          ? make('textarea', attributes)
          : make('input', attributes);
    if (input instanceof HTMLSelectElement) {
      const options = choices.map((choice, at) =>
        make('option', { value: at }, typeof choice === 'string' ? choice : JSON.stringify(choice)),
      );
      input.append(
        ...(isRequired && own !== undefined ? [] : [make('option', { value: -1 }, 'not given')]),
        ...options,
      );
      input.value = String(choices.indexOf(own));
      input.addEventListener('change', () => set(name, choices[Number(input.value)]));
    } else {
      const text = own === undefined ? '' : typeof own === 'string' ? own : JSON.stringify(own);
      input.value = text;
      if (input instanceof HTMLTextAreaElement)
        input.rows = Math.min(8, Math.ceil(text.length / 70) + text.split('\n').length - 1) || 1;
      else input.inputMode = 'decimal';
      // Without a value it is not given, unless it was an empty string.
      input.addEventListener('input', () => {
        const isAbsent = input.value === '' && own !== '' && !isRequired;
        set(name, isAbsent ? undefined : kind === 'string' ? input.value : toNumber(input.value));
      });
    }
    return make(
      'div',
      { class: 'form-field' },
      make('label', { for: place }, name, isRequired && make('small', {}, ' required')),
      input,
      about !== '' && make('p', { class: 'note', id: `${place}-about` }, about),
    );
  });
}

/** Keeps all digits. What is no number stays a string, which the check of the arguments refuses. */
function toNumber(text: string): unknown {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? parseExact(text) : text;
}
