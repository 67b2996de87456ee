/**
 * Preloaded by the declaration generator: makes it remember which types do not use which.
 *
 * It asks for each declaration and each export whether one uses the other, and walks the whole graph of types, Node's own among them, for every no. A
 * search that ends without a find has visited all that is reachable, so the answer is no for each of those, and final. Without this the package takes
 * minutes of processor time, with it seconds; what it writes is the same.
 */
import evaluator from 'dts-bundle-generator/dist/types-usage-evaluator.js';

const { TypesUsageEvaluator } = evaluator;

TypesUsageEvaluator.prototype.isSymbolUsedBySymbol = function isSymbolUsedBySymbol(symbol, by) {
  const from = this.getActualSymbol(symbol);
  const to = this.getActualSymbol(by);
  const visited = new Set();
  const isUsed = this.isSymbolUsedBySymbolImpl(from, to, visited);
  if (!isUsed) for (const one of visited) this.setUsageCacheValue(one, to, false);
  return isUsed;
};
