// A page that is not there.
import { byId, data } from "./common.js";

byId("error").textContent = data.error;
