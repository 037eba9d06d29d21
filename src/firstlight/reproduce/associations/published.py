"""The tokens the paper shows for each basis function (Figures 3 and 5), as its authors selected them."""

from firstlight.statistics import Basis

PUBLISHED: dict[Basis, dict[str, tuple[str, ...]]] = {
    "bigram": {
        "the": ("park", "little", "bird", "ball", "dog", "big", "tree", "man", "box"),
        "red": ("ball", "car", "dress", "balloon", "truck", "blocks", "apples", "shirt", "hat"),
        "to": ("the", "play", "go", "be", "help", "see", "her", "make", "do"),
    },
    "interchangeability": {
        "they": ("she", "they", "he", "it", "one", "lily", "timmy", "tom", "her"),
        "happy": ("happy", "sad", "excited", "scared", "proud", "angry", "nice", "curious", "surprised"),
        "wanted": ("saw", "had", "wanted", "asked", "went", "loved", "ran", "looked", "took"),
    },
    "context": {
        "fish": ("fish", "big", "small", "pond", "lake", "water", "catch", "sea", "boat"),
        "flower": ("beautiful", "yellow", "butterfly", "hose", "garden", "bloom", "pretty", "daisy", "field"),
        "birds": ("bird", "tree", "up", "park", "nest", "flowers", "tweety", "sky", "flew"),
    },
}
