"use strict";
// Names the buffer that is pointed at, touched or focused: browsers show the titles of pictures to pointers only.
const told = document.getElementById("buffer");
for (const buffer of document.querySelectorAll(".buffer")) {
  for (const event of ["pointerenter", "focus", "click"]) {
    buffer.addEventListener(event, () => { told.textContent = buffer.getAttribute("aria-label"); });
  }
}
