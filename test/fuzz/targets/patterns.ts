import { compileLinearFromJs } from '../../../src/base/text/linear-pattern.ts';
import { compileSafe } from '../../../src/base/text/safe-pattern.ts';
import { findMatcherFaults, matches as matchesAgentao } from '../../../src/dialects/agentao/matcher.ts';
import { matchesGlob } from '../../../src/dialects/claude/condition.ts';
import { findMatcherFault, matches as matchesClaude } from '../../../src/dialects/claude/matcher.ts';
import { holds, type Target } from '../target.ts';

/** The pattern on the first line, then the text, which is also searched in a repeated form. */
export const patterns: Target = {
  seeds: [
    '^(a+)+$\naaaaaaaaaaaaaaaaaaaaaaaa!',
    '(?:x|y)*z{1,3}[^a-c\\d]\\bfoo\\.bar$\nxyxyzz foo.bar',
    '^(?=(a+)+$)a\naaaa',
    'Edit|Write\nWrite',
    'mcp__.*__x*\nmcp__a__xx',
    '[\\w.-]+@[\\w-]+\\.\\w{2,}\nann@example.com',
    '*a*b*c?\naxxbxxcx',
  ],
  tokens: [
    ...[
      '(',
      ')',
      '*',
      '+',
      '?',
      '|',
      '^',
      '$',
      '.',
      '[',
      ']',
      '{1,3}',
      '{2,}',
      '\\d',
      '\\w',
      '\\s',
      '\\b',
      '(?:',
      '(?=',
    ],
    ...[
      '(?!',
      '(?<=',
      '\\1',
      '[^a]',
      '\\p{L}',
      '\\u{41}',
      '.*',
      '.+?',
      '(a|a)*',
      '(a*)*',
      'aaaa',
      '\n',
      '\ud800',
      '\\/',
    ],
  ],
  maxLength: 60,
  run: (input) => {
    const at = input.indexOf('\n');
    const [source, text] = at === -1 ? [input, ''] : [input.slice(0, at), input.slice(at + 1)];
    matchesGlob(source, text);
    matchesClaude('PreToolUse', source, text);
    findMatcherFault('PreToolUse', source);
    matchesAgentao('PreToolUse', { toolName: source }, [text]);
    findMatcherFaults('PreToolUse', { toolName: source });
    const native = tryNative(source);
    if (native === undefined) return;
    const safe = compileSafe(source);
    // Leaves patterns that V8 may never finish to the safe engine.
    const isCheap = !/[*+{?]/.test(source) || text.length < 12;
    const linear = compileLinearFromJs(source, '');
    const isPlain = !/[\ud800-\udfff]/.test(text + source);
    const found = testIn(safe.test, text);
    if (isCheap && found !== undefined) {
      holds(native.test(text) === found, 'found where JavaScript finds it', source, text);
      if (linear !== undefined && isPlain)
        holds(linear.test(text) === found, 'the linear engine', source, text);
    }
    // A search that has reached its limit would only do so again.
    if (found !== undefined) testIn(safe.test, text.repeat(8));
  },
};

function tryNative(source: string): RegExp | undefined {
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}

function testIn(test: (text: string) => boolean, text: string): boolean | undefined {
  try {
    return test(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
