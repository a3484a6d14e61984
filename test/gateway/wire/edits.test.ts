import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Edits, openPlace } from '../../../src/gateway/wire/place.ts';

describe('changes of a JSON text', () => {
  it('give the same string when nothing is changed', () => {
    const source = '{ "a": [1, 2] }';
    const edits = new Edits(source);
    expect(edits.apply()).toBe(source);
  });

  it.each<[string, readonly number[], string]>([
    ['[1, 2, 3]', [0], '[2, 3]'],
    ['[1, 2, 3]', [1], '[1, 3]'],
    ['[1, 2, 3]', [2], '[1, 2]'],
    ['[ 1 , 2 ]', [0, 1], '[  ]'],
  ])('remove elements: %s without %j', (source, indexes, left) => {
    const edits = new Edits(source);
    const list = openPlace(source);
    for (const index of indexes) edits.remove(list, index);
    expect(edits.apply()).toBe(left);
  });

  it('change, remove and insert members and elements, whatever the whitespace', () => {
    const source = '{ "a" : [ "x" , "y" ] , "b" : {"c":1} , "d" : 2 }';
    const edits = new Edits(source);
    const root = openPlace(source);
    const list = root.at('a');
    const inner = root.at('b');
    if (list === undefined || inner === undefined) throw new Error('missing');
    edits.insert(list, '"first"', 0);
    for (const item of list.items) edits.replaceText(item, `${item.text}!`);
    edits.insert(list, '"last"');
    edits.remove(root, 'b');
    edits.remove(inner, 'c');
    edits.addMember(root, 'e"', '3');
    expect(JSON.parse(edits.apply())).toEqual({ a: ['first', 'x!', 'y!', 'last'], d: 2, 'e"': 3 });
  });

  it('leave what JSON.parse reads after changing the value directly', () => {
    const spaced = fc.constantFrom(0, 1, 2);
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 6 }),
        fc.array(fc.constantFrom('keep', 'remove', 'replace'), { minLength: 6, maxLength: 6 }),
        fc.array(fc.nat(6), { maxLength: 3 }),
        spaced,
        (values, actions, inserts, spaces) => {
          const source = JSON.stringify(values, null, spaces);
          const edits = new Edits(source);
          const list = openPlace(source);
          const expected: unknown[] = [];
          for (let index = 0; index <= values.length; index += 1) {
            for (const at of inserts) if (at === index) expected.push('new');
            const item = list.items[index];
            if (item === undefined) continue;
            if (actions[index] !== 'keep') edits.replace(item, '"other"');
            if (actions[index] === 'remove') edits.remove(list, index);
            else expected.push(actions[index] === 'keep' ? item.value : 'other');
          }
          for (const at of inserts) if (at <= values.length) edits.insert(list, '"new"', at);
          expect(JSON.parse(edits.apply())).toEqual(expected);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('refuse two changes that overlap', () => {
    const source = '{"a":{"b":1}}';
    const edits = new Edits(source);
    const outer = openPlace(source).at('a');
    const inner = outer?.at('b');
    if (outer === undefined || inner === undefined) throw new Error('missing');
    edits.replace(outer, '{}');
    edits.replace(inner, '2');
    expect(() => edits.apply()).toThrow('in two ways');
  });
});
