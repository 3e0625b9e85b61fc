# Libraries of the distribution. OpenCV's headers warn under C++20, hence SYSTEM.
find_package(yaml-cpp 0.7 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(JPEG REQUIRED)
find_package(GIF REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(heif REQUIRED IMPORTED_TARGET libheif)
pkg_check_modules(freetype REQUIRED IMPORTED_TARGET freetype2)

# Found by hand: OpenCVConfig.cmake comes only with libopencv-dev, which brings all of OpenCV.
find_path(OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
add_library(vitascope_opencv INTERFACE)
target_include_directories(vitascope_opencv SYSTEM INTERFACE ${OPENCV_INCLUDE})
foreach(module core imgproc imgcodecs)
  find_library(OPENCV_${module} opencv_${module} REQUIRED)
  target_link_libraries(vitascope_opencv INTERFACE ${OPENCV_${module}})
endforeach()
