// Search options of the site. A classic script, because pages opened from disk cannot load modules.
{
  const noise = new Set(
    'a about an and any are as at be by can do does for from how i if in is it me mean my of on or so that the then this to two up what when where which who why will with without you your'.split(
      ' ',
    ),
  );
  // Removes the longest suffix. The remaining stem matches as a prefix.
  const ending = /(?:ations?|ions?|ings?|ied|ies|ers?|ors?|ed|es|s|e|y)$/;
  const stem = (word) => (word.length > 4 ? word.replace(ending, '') : word);

  // Ranks guides above reference pages, and both above pages for the project's developers.
  const weights = { start: 1.4, guides: 1.3, operate: 1.2, internals: 0.6 };

  globalThis.searchOptions = {
    fields: ['question', 'heading', 'page', 'text'],
    storeFields: ['heading', 'page'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u),
    processTerm: (term) => {
      const word = term.toLowerCase();
      return noise.has(word) ? null : stem(word);
    },
    searchOptions: {
      boost: { question: 8, heading: 3, page: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.15 : 0),
      combineWith: 'OR',
      // Ranks the table of error codes first for a search for an error code.
      boostDocument: (id, term) =>
        (weights[id.split('/')[0]] ?? 1) * (term.includes('_') && id.startsWith('reference/errors') ? 10 : 1),
    },
  };
}
