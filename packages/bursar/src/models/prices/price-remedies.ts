import { howToPrice } from "./stated-price.js";

/** How what is missing for a price is stated where a call is made, each for one name. */
export interface PriceRemedies {
  readonly price: (model: string) => string;
  readonly deployment: (name: string) => string;
}

/** As options of a program, or for one that is not changed as variables. */
export const OPTION_REMEDIES: PriceRemedies = {
  price: (model) =>
    `${howToPrice(model)}, or say what to assume; bursar/register reads the same from BURSAR_PRICES; without a limit of cost_usd no price is needed`,
  deployment: (name) => {
    const option = `deployments: { ${JSON.stringify(name)}: "gpt-4o-mini" }`;
    const elsewhere = `--deployment ${name}=gpt-4o-mini on the command line, BURSAR_DEPLOYMENTS for bursar/register`;
    return `say which model it runs: ${option} (${elsewhere})`;
  },
};
